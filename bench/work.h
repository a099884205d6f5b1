/* What the workloads (work_*.c) share beside bench.h: their arguments, mappings for pointer
 * arrays, threads and the drawing of sizes.  The malloc they measure is the one the process was
 * started with; nothing here calls it. */
#ifndef INK_WORK_H
#define INK_WORK_H

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

enum { WORK_LINE_BYTES = 64, WORK_PAGE_BYTES = 4096 };

static inline void work_fail(const char *what, int error)
{
    fprintf(stderr, "work: %s: %s\n", what, strerror(error));
    exit(1);
}

/* ---- arguments: taken one after another, each may be left out from the end ---- */

struct work_arguments {
    char **next;
    const char *usage;
};

static inline struct work_arguments work_begin(int argc, char **argv, const char *usage)
{
    struct work_arguments a;

#ifndef __OPTIMIZE__
    fputs("work: built without optimisation; the figures mean little\n", stderr);
#endif
    a.next = argv + (argc > 0);
    a.usage = usage;
    return a;
}

static inline void work_refuse(const struct work_arguments *a)
{
    fprintf(stderr, "usage: %s\n", a->usage);
    exit(2);
}

/* A number from 1 to max, or fallback where the arguments are at their end. */
static inline size_t work_number(struct work_arguments *a, size_t fallback, size_t max)
{
    unsigned long value;
    char *end;

    if (*a->next == NULL)
        return fallback;
    errno = 0;
    value = strtoul(*a->next, &end, 10);
    if (errno != 0 || **a->next < '0' || **a->next > '9' || *end != '\0' || value == 0 ||
        value > max)
        work_refuse(a);
    a->next++;
    return value;
}

/* The index of a word among words, which ends with NULL; the first one is the default. */
static inline size_t work_word(struct work_arguments *a, const char *const *words)
{
    if (*a->next == NULL)
        return 0;
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(*a->next, words[i]) == 0) {
            a->next++;
            return i;
        }
    }
    work_refuse(a);
    return 0;
}

static inline void work_end(const struct work_arguments *a)
{
    if (*a->next != NULL)
        work_refuse(a);
}

/* ---- mappings: zeroed, for the arrays that must not be the allocator's blocks ---- */

static inline void *work_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        work_fail("mmap", errno);
    return p;
}

/* ---- threads ---- */

static inline pthread_t work_start(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, body, argument);

    if (error != 0)
        work_fail("pthread_create", error);
    return thread;
}

static inline void work_join(pthread_t thread)
{
    int error = pthread_join(thread, NULL);

    if (error != 0)
        work_fail("pthread_join", error);
}

/* ---- sizes ---- */

/* At least 8 bytes, less than 8 << octaves; each doubling is half as frequent as the one before
 * it, as most blocks of most programs are small.  The mean is about 6 * octaves bytes. */
static inline size_t work_small_size(struct bench_rng *rng, unsigned octaves)
{
    uint64_t x = bench_rng_next(rng);
    unsigned octave = (unsigned)__builtin_ctzll(x | (uint64_t)1 << (octaves - 1));
    size_t base = (size_t)8 << octave;

    return base + (size_t)((x >> 32) * base >> 32);
}

/* Log-uniform: base << k with k from 0 to octaves - 1, each as frequent, and even within it. */
static inline size_t work_log_size(struct bench_rng *rng, size_t base, unsigned octaves)
{
    uint64_t x = bench_rng_next(rng);

    base <<= (x & 0xffff) * octaves >> 16;
    return base + (size_t)((x >> 32) * base >> 32);
}

/* A block whose first byte is written, as a program that asks for memory uses it. */
static inline char *work_block(size_t bytes)
{
    char *p = (char *)bench_check(malloc(bytes));

    *p = 1;
    return p;
}

/* Fills live places with blocks, replaces that of a random one steps times, frees all: block makes
 * the i-th of them.  Prints operations. */
static inline void work_churn(size_t live, size_t steps,
                              char *(*block)(struct bench_rng *rng, size_t i))
{
    char **blocks = (char **)work_map(live * sizeof *blocks);
    struct bench_rng rng = bench_rng_seeded(1);

    for (size_t i = 0; i < steps + live; i++) {
        char **place = &blocks[i < live ? i : bench_rng_below(&rng, live)];

        free(*place);
        *place = block(&rng, i);
    }
    for (size_t i = 0; i < live; i++)
        free(blocks[i]);
    bench_result("operations", 2.0 * (double)(steps + live), "count");
}

static inline void work_shuffle(struct bench_rng *rng, void **blocks, size_t items)
{
    for (size_t i = items; i > 1; i--) {
        size_t j = bench_rng_below(rng, i);
        void *p = blocks[i - 1];

        blocks[i - 1] = blocks[j];
        blocks[j] = p;
    }
}

#endif
