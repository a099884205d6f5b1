/* The system refuses: every n-th mmap, munmap, mremap or madvise fails.  No call may end in more
 * than NULL, nothing that was written may be lost, and when the system gives again everything works
 * again.
 *
 * This program's own syscall() stands in place of the C library's, through which os.c makes every
 * call. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "heap.h"
#include "large_record.h"
#include "stats.h"
#include "trim.h"
#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 0: none fails.  Written by the test while no other thread runs. */
static unsigned refuse_every;
static _Atomic unsigned asked, refused;

static bool is_of_memory(long number)
{
    return number == SYS_mmap || number == SYS_munmap || number == SYS_mremap ||
           number == SYS_madvise || number == SYS_mprotect || number == 440;
}

/* All callers of this program pass at most six arguments, as the kernel does. */
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    va_list list;
    long a[6];

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    if (is_of_memory(number) && refuse_every != 0 &&
        ink_add_relaxed(&asked, 1) % refuse_every == 0) {
        ink_add_relaxed(&refused, 1);
        errno = ENOMEM;
        return -1;
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

enum { HELD = 300, STEPS = 40000, THREADS = 3 };

struct block {
    unsigned char *p;
    size_t bytes;
    unsigned char tag;
};

static void check(const struct block *block)
{
    UNIT_CHECK(block->p[0] == block->tag && block->p[block->bytes / 2] == block->tag &&
               block->p[block->bytes - 1] == block->tag);
}

static void mark(struct block *block, unsigned char *p, size_t bytes, unsigned char tag)
{
    *block = (struct block){p, bytes, tag};
    p[0] = p[bytes / 2] = p[bytes - 1] = tag;
}

/* Mostly small, some ranges, some large. */
static size_t size_of(uint64_t *seed)
{
    unsigned kind = unit_random(seed) % 64;

    return 1 + unit_random(seed) % (kind < 48   ? 600
                                    : kind < 60 ? 20000
                                    : kind < 63 ? 300000
                                                : (size_t)4 << 20);
}

static void release(struct block *block)
{
    check(block);
    ink_heap_free(block->p, "free");
    block->p = NULL;
}

static void step(struct block *block, uint64_t *seed)
{
    size_t bytes = size_of(seed);
    unsigned char *p, tag = (unsigned char)(unit_random(seed) | 1);

    if (block->p == NULL) {
        bool zeroed = unit_random(seed) % 4 == 0;

        p = zeroed ? ink_heap_alloc_zeroed(bytes) : ink_heap_alloc(bytes);
        if (p == NULL)
            return;
        UNIT_CHECK(!zeroed || (p[0] == 0 && p[bytes / 2] == 0 && p[bytes - 1] == 0));
        mark(block, p, bytes, tag);
    } else if (unit_random(seed) % 4 == 0) {
        check(block);
        p = ink_heap_realloc(block->p, bytes);
        if (p != NULL) {
            UNIT_CHECK(p[0] == block->tag);
            mark(block, p, bytes, tag);
        }
    } else {
        release(block);
    }
}

static void churn(void *arg)
{
    static _Thread_local struct block held[HELD];
    uint64_t seed = *(uint64_t *)arg;

    for (unsigned i = 0; i < STEPS; i++) {
        step(&held[unit_random(&seed) % HELD], &seed);
        if (i % 5000 == 4999)
            (void)ink_trim();
    }
    unit_count_operations(STEPS);
    for (unsigned i = 0; i < HELD; i++)
        if (held[i].p != NULL)
            release(&held[i]);
}

static void assert_all_works_again(void)
{
    struct block block[64];

    refuse_every = 0;
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().live_blocks, 0);
    assert_int_equal(ink_large_sum().blocks, 0);
    for (unsigned i = 0; i < 64; i++) {
        size_t bytes = (size_t)16 << i % 18;
        unsigned char *p = ink_heap_alloc(bytes);

        assert_non_null(p);
        mark(&block[i], p, bytes, (unsigned char)(i + 1));
    }
    for (unsigned i = 0; i < 64; i++)
        release(&block[i]);
}

/* Each other call, each third, ... fails. */
static void every_nth_refusal_loses_nothing(void **state)
{
    static const unsigned every[] = {1, 2, 3, 5, 7, 11, 50};

    (void)state;
    for (unsigned i = 0; i < sizeof every / sizeof every[0]; i++) {
        uint64_t seed = i + 1;
        unsigned before = refused;

        refuse_every = every[i];
        churn(&seed);
        assert_true(refused > before);
        assert_all_works_again();
    }
}

/* So it is with several threads. */
static void refusals_to_several_threads_lose_nothing(void **state)
{
    uint64_t seeds[THREADS] = {11, 12, 13};

    (void)state;
    for (unsigned n = 2; n <= 4; n++) {
        refuse_every = n;
        unit_threads(THREADS, churn, seeds, sizeof seeds[0]);
        assert_all_works_again();
    }
}

UNIT_MAIN(cmocka_unit_test(every_nth_refusal_loses_nothing),
          cmocka_unit_test(refusals_to_several_threads_lose_nothing))
