/* Out of memory is NULL and ENOMEM, and what is freed afterwards can be used again: by other
 * sizes, by other functions, by other threads, round after round. Each fact runs in a child with
 * little address space. */
#include "check.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
    ROOM_BYTES = 32 << 20,
    ROUNDS = 3,
    THREADS = 4,
    GIBIBYTES = 14,
    STACK_BYTES = 256 << 10,
    HALF_PERCENT = 50
};

/* Blocks hang together by their first word, so that keeping them needs no memory. */
struct link {
    struct link *next;
    size_t n;
};

typedef size_t size_chooser(uint32_t *rng);

static size_t tiny(uint32_t *rng)
{
    (void)rng;
    return 48;
}
static size_t up_to_a_page(uint32_t *rng)
{
    return rng_next(rng) % 4096;
}
static size_t up_to_32_kib(uint32_t *rng)
{
    return rng_next(rng) % 32768;
}
static size_t run_ranges(uint32_t *rng)
{
    return 32769 + rng_next(rng) % 1000000;
}
static size_t own_mappings(uint32_t *rng)
{
    return 1048577 + rng_next(rng) % 3000000;
}
static size_t anything(uint32_t *rng)
{
    return random_size(rng);
}

static size_chooser *const choosers[] = {tiny,       up_to_a_page, up_to_32_kib,
                                         run_ranges, own_mappings, anything};

enum { CHOOSERS = sizeof choosers / sizeof choosers[0], GETTERS = 5 };

static void *get(int way, size_t n)
{
    void *p = NULL;
    int code;

    switch (way) {
    case 0:
        return malloc(n);
    case 1:
        return calloc(n, 1);
    case 2:
        return realloc(keep_ptr(NULL), n);
    case 3:
        return memalign(256, n);
    default:
        code = posix_memalign(&p, 64, n);
        if (code != 0)
            check_eq(code, ENOMEM);
        if (code != 0)
            errno = code;
        return p;
    }
}

/* Takes blocks until there are none; returns how many bytes that were. */
static size_t take_all(struct link **head, size_chooser *choose, int way, uint32_t *rng)
{
    size_t total = 0;

    for (;;) {
        size_t const n = choose(rng) + sizeof(struct link);

        errno = 0;
        struct link *const p = get(way, n);
        if (p == NULL) {
            check_eq(errno, ENOMEM);
            return total;
        }
        ((char *)p)[n - 1] = 1;
        p->next = *head;
        p->n = n;
        *head = p;
        total += n;
    }
}

static void give_all(struct link **head)
{
    while (*head != NULL) {
        struct link *const p = *head;

        *head = p->next;
        check_le(p->n, malloc_usable_size(p));
        free(p);
    }
}

static int limited = RLIMIT_AS;

/* What the limit counts already: all, or what is private and writable. */
static size_t limited_bytes(void)
{
    return limited == RLIMIT_AS ? mapped_bytes() : statm_bytes(5);
}

static void limit_room(size_t more)
{
    struct rlimit const r = {limited_bytes() + more, RLIM_INFINITY};

    check_eq(setrlimit(limited, &r), 0);
}

static void oom_with_one_mix_comes_back_whole(void)
{
    uint32_t rng = 11;

    limit_room(ROOM_BYTES);
    for (int c = 0; c < CHOOSERS; ++c)
        for (int way = c % GETTERS; way < GETTERS; way += 3) {
            struct link *head = NULL;
            size_t first = 0;

            for (int round = 0; round < ROUNDS; ++round) {
                size_t const got = take_all(&head, choosers[c], way, &rng);

                if (round == 0)
                    first = got;
                check_le((size_t)ROOM_BYTES / 4, got);
                check_le(first / 100 * HALF_PERCENT, got);
                give_all(&head);
            }
        }
}

/* Memory that small blocks filled serves large ones afterwards, and the other way round. */
static void oom_with_one_size_leaves_room_for_others(void)
{
    uint32_t rng = 12;

    limit_room(ROOM_BYTES);
    for (int round = 0; round < ROUNDS; ++round)
        for (int c = 0; c < CHOOSERS; ++c) {
            struct link *head = NULL;

            take_all(&head, choosers[c], 0, &rng);
            give_all(&head);
            for (size_t n = 1; n <= ROOM_BYTES / 4; n *= 2) {
                void *const p = malloc(n);

                check_at(p != NULL, n);
                free(p);
            }
        }
}

static void oom_keeps_every_other_call_usable(void)
{
    struct link *head = NULL;
    uint32_t rng = 13;
    void *kept = malloc(100);

    limit_room(ROOM_BYTES);
    check(kept != NULL);
    pattern_fill(kept, 100, 1);
    take_all(&head, own_mappings, 0, &rng);
    take_all(&head, run_ranges, 0, &rng);
    take_all(&head, tiny, 0, &rng);
    for (int i = 0; i < 2000; ++i) {
        size_t const n = random_size(&rng) + 1;

        errno = 0;
        void *const p = get(i % GETTERS, n);
        check_at(p != NULL || errno == ENOMEM, n);
        free(p);
        errno = 0;
        void *const q = realloc(kept, n + 20000);
        check_at(q != NULL || errno == ENOMEM, n);
        kept = q != NULL ? q : kept;
        check_pattern(kept, 100, 1);
        free(NULL);
    }
    errno = 0;
    check(strdup("x") != NULL || errno == ENOMEM);
    give_all(&head);
    free(kept);
    check((kept = malloc(ROOM_BYTES / 4)) != NULL);
    free(kept);
}

static void oom_of_a_growing_realloc_keeps_the_content(void)
{
    limit_room(ROOM_BYTES);
    for (int round = 0; round < ROUNDS; ++round) {
        size_t n = 10;
        char *p = malloc(n);

        check(p != NULL);
        for (;;) {
            pattern_fill(p, n, (uint32_t)n);
            errno = 0;
            char *const q = realloc(p, n + n / 2);
            if (q == NULL)
                break;
            check_eq(pattern_differs(q, n, n, (uint32_t)n), n);
            p = q;
            n += n / 2;
        }
        check_eq(errno, ENOMEM);
        check_le((size_t)ROOM_BYTES / 8, n);
        check_pattern(p, n, (uint32_t)n);
        free(p);
    }
}

/* The kernel moves the block far away while nothing is left to describe the new place with. */
static void oom_of_a_realloc_that_moves_by_gigabytes_keeps_the_block(void)
{
    size_t const gib = sizeof(size_t) > 4 ? (size_t)1 << 30 : 0;
    char *p = NULL;

    for (int i = 0; gib != 0 && i < GIBIBYTES; ++i)
        if ((p = malloc(gib)) == NULL)
            break; /* a system that does not overcommit */
    if (p == NULL)
        return;
    pattern_fill(p, 100000, 1);
    limit_room(2 * gib + 8192);
    for (int i = 0; i < 2; ++i) {
        errno = 0;
        char *const q = realloc(p, (size_t)(3 - i) * gib);
        check(q != NULL || errno == ENOMEM);
        p = q != NULL ? q : p;
        check_pattern(p, 100000, 1);
    }
    free(p);
}

static void *take_and_give(void *arg)
{
    uint32_t rng = (uint32_t)(uintptr_t)arg;

    for (int round = 0; round < ROUNDS; ++round)
        for (int c = 0; c < CHOOSERS; ++c) {
            struct link *head = NULL;

            take_all(&head, choosers[(c + (int)(uintptr_t)arg) % CHOOSERS], round % GETTERS, &rng);
            give_all(&head);
        }
    return NULL;
}

static void oom_in_several_threads_at_once_comes_back_whole(void)
{
    pthread_attr_t attr;
    pthread_t id[THREADS];
    struct link *head = NULL;
    uint32_t rng = 14;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    limit_room(ROOM_BYTES + THREADS * 2 * STACK_BYTES);
    for (uintptr_t i = 0; i < THREADS; ++i)
        check_eq(pthread_create(&id[i], &attr, take_and_give, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; ++i)
        check_eq(pthread_join(id[i], NULL), 0);
    if (!on_inkalloc())
        return; /* glibc keeps the arenas */
    check_le((size_t)ROOM_BYTES / 2, take_all(&head, up_to_32_kib, 0, &rng));
    give_all(&head);
    check_le((size_t)ROOM_BYTES / 2, take_all(&head, own_mappings, 0, &rng));
    give_all(&head);
}

static void in_child(void (*fact)(void))
{
    int status = 0;
    pid_t const pid = fork();

    check(pid >= 0);
    if (pid == 0) {
        alarm(CHECK_WATCHDOG_SECONDS);
        fact();
        _exit(check_count > 0 ? 0 : 1);
    }
    check_eq(waitpid(pid, &status, 0), pid);
    check_eq(status, 0);
}

int main(void)
{
    check_start();
    in_child(oom_with_one_mix_comes_back_whole);
    in_child(oom_with_one_size_leaves_room_for_others);
    in_child(oom_keeps_every_other_call_usable);
    in_child(oom_of_a_growing_realloc_keeps_the_content);
    in_child(oom_of_a_realloc_that_moves_by_gigabytes_keeps_the_block);
    in_child(oom_in_several_threads_at_once_comes_back_whole);
    limited = RLIMIT_DATA; /* O4: counts private mappings, too */
    in_child(oom_with_one_mix_comes_back_whole);
    in_child(oom_with_one_size_leaves_room_for_others);
    return check_end();
}
