/* 
 * A program that is linked with inkalloc (link_*.sh): calls every function of the malloc family,
 * also from threads and from the child of a fork, and prints "served by <version>". malloc_stats
 * writes to stderr; its first line is for the script to judge.
 */
#define _GNU_SOURCE
#include <inkalloc.h>

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In no header of this C library. */
void cfree(void *block);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

enum { THREADS = 4, ROUNDS = 20000, SLOTS = 64 };

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "link_program.c:%d: %s does not hold\n", __LINE__, #condition); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

/* The compiler may not guess what is behind the pointer, nor remove the allocation. */
static void *keep(void *block)
{
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

static void every_function(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *block = keep(malloc(100));
    CHECK(block && malloc_usable_size(block) >= 100);
    memset(block, 'a', 100);
    block = keep(realloc(block, 100000));
    CHECK(block && ((char *)block)[99] == 'a');
    free(block);

    char *zeros = keep(calloc(1000, 3));
    CHECK(zeros && zeros[0] == 0 && memcmp(zeros, zeros + 1, 2999) == 0);
    cfree(zeros);

    CHECK(posix_memalign(&block, 4096, 10) == 0 && (uintptr_t)keep(block) % 4096 == 0);
    free(block);
    block = keep(aligned_alloc(256, 512));
    CHECK(block && (uintptr_t)block % 256 == 0);
    free_aligned_sized(block, 256, 512);
    block = keep(memalign(1 << 21, 5));
    CHECK(block && (uintptr_t)block % (1 << 21) == 0);
    free(block);
    block = keep(valloc(10));
    CHECK(block && (uintptr_t)block % page == 0);
    free(block);
    block = keep(pvalloc(10));
    CHECK(block && (uintptr_t)block % page == 0);
    free(block);
    block = keep(malloc(77));
    CHECK(block);
    free_sized(block, 77);

    /* The C library's own, which call ours. */
    char *text = NULL;
    CHECK(asprintf(&text, "%s %d", "text", 42) == 7);
    char *copy = strdup(text);
    CHECK(copy && strcmp(copy, "text 42") == 0);
    free(text);
    copy = keep(reallocarray(copy, 50, 30));
    CHECK(copy && strcmp(copy, "text 42") == 0);
    free(copy);
}

static void every_report(void)
{
    void *held = keep(malloc(30000));
    CHECK(held && mallinfo2().uordblks >= 30000);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    CHECK(mallinfo().uordblks >= 30000);
#pragma GCC diagnostic pop
    free(held);
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 20);
    (void)malloc_trim(0);

    char *xml = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&xml, &length);
    CHECK(stream && malloc_info(0, stream) == 0 && fclose(stream) == 0);
    CHECK(length > 0 && xml[0] == '<');
    free(xml);
}

static void *churn(void *argument)
{
    uint32_t seed = (uint32_t)(uintptr_t)argument;
    unsigned char *slot[SLOTS] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t at = seed >> 26;
        size_t size = (seed >> 8) % (i % 50 ? 600 : 60000) + 1;
        CHECK(!slot[at] || slot[at][0] == at);
        free(slot[at]);
        slot[at] = keep(malloc(size));
        CHECK(slot[at]);
        slot[at][0] = (unsigned char)at;
        slot[at][size - 1] = (unsigned char)at;
    }
    for (int at = 0; at < SLOTS; at++) {
        free(slot[at]);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    for (uintptr_t n = 0; n < THREADS; n++) {
        CHECK(pthread_create(&thread[n], NULL, churn, (void *)(n + 1)) == 0);
    }
    for (int n = 0; n < THREADS; n++) {
        CHECK(pthread_join(thread[n], NULL) == 0);
    }
}

static void forks(void)
{
    void *held = keep(malloc(1000));
    pid_t child = fork();
    if (child == 0) {
        free(held);
        threads();
        _exit(7);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    free(held);
}

int main(void)
{
    every_function();
    threads();
    forks();
    every_report();
    printf("served by %s\n", inkalloc_version());
    malloc_stats();
    return 0;
}
