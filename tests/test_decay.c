/* Decay: what nobody has needed for a while goes, what a program breathes with stays, and the clock
 * is the system's. */
#include "decay.h"
#include "cache_fast.h"
#include "chunk.h"
#include "collapse.h"
#include "dirty.h"
#include "heap.h"
#include "run.h"
#include "run_bytes.h"
#include "stats.h"
#include "trim.h"
#include "turn.h"
#include "unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#define MIB ((size_t)1024 * 1024)

enum { RANGES = 16, ITEMS = 40000 };

static void *p[ITEMS];

static void take(int count, size_t bytes)
{
    for (int i = 0; i < count; i++) {
        p[i] = ink_heap_alloc(bytes);
        assert_non_null(p[i]);
        memset(p[i], 1, bytes);
    }
}

static void give(int count)
{
    while (count-- > 0)
        ink_heap_free(p[count], "free");
}

/* A tick and all that it leaves to be done. */
static void tick(void)
{
    struct ink_turn turn = ink_turn_begin(ink_cache_take());

    ink_decay_tick(&turn);
    while (ink_load_relaxed(&ink_decay_left) != 0)
        ink_decay_step(&turn);
    while (ink_collapse_is_under_way())
        ink_collapse_step(&turn);
    ink_turn_end(&turn);
}

/* What came before a test is no part of it; nor does the clock make ticks of its own. */
static int begin(void **state)
{
    (void)state;
    ink_options.decay = 1000000;
    (void)ink_trim();
    tick();
    tick();
    return 0;
}

/* After the tick that sees them first, two more. */
static void units_that_nobody_needs_go(void **state)
{
    (void)state;
    take(RANGES, MIB / 2);
    give(RANGES);
    assert_true(ink_chunk_dirty_bytes() >= RANGES * MIB / 2);
    tick();
    tick();
    assert_true(ink_chunk_dirty_bytes() >= RANGES * MIB / 2);
    tick();
    assert_true(ink_chunk_dirty_bytes() <= MIB);
}

/* Of what a program takes and gives in each half period nothing goes; of what it takes no longer,
 * that. */
static void units_that_are_needed_now_and_then_stay(void **state)
{
    (void)state;
    take(RANGES, MIB / 2);
    give(RANGES);
    for (int i = 0; i < 6; i++) {
        take(RANGES, MIB / 2);
        give(RANGES);
        tick();
        assert_true(ink_chunk_dirty_bytes() >= RANGES * MIB / 2);
    }
    for (int i = 0; i < 4; i++) {
        take(RANGES / 4, MIB / 2);
        give(RANGES / 4);
        tick();
    }
    assert_in_range(ink_chunk_dirty_bytes(), RANGES / 4 * MIB / 2, RANGES / 2 * MIB / 2);
}

static void kept_large_blocks_that_nobody_needs_go(void **state)
{
    (void)state;
    take(3, 2 * MIB);
    give(3);
    assert_int_equal(ink_dirty_large(), 6 * MIB);
    for (int i = 0; i < 4; i++) {
        take(1, 2 * MIB);
        give(1);
        tick();
    }
    assert_int_equal(ink_dirty_large(), 2 * MIB);
    tick();
    tick();
    assert_int_equal(ink_dirty_large(), 0);
}

struct sleeper {
    pthread_t thread;
    sem_t filled, end;
};

/* Leaves something of every size in its cache. */
static void *fill_cache_and_sleep(void *argument)
{
    struct sleeper *sleeper = argument;

    for (int round = 0; round < 20; round++)
        for (size_t bytes = 16; bytes <= 32768; bytes += bytes / 4 / 16 * 16 + 16) {
            void *held[8];

            for (int i = 0; i < 8; i++) {
                held[i] = ink_heap_alloc(bytes);
                UNIT_CHECK(held[i] != NULL);
            }
            for (int i = 0; i < 8; i++)
                ink_heap_free(held[i], "free");
        }
    sem_post(&sleeper->filled);
    while (sem_wait(&sleeper->end) != 0)
        continue;
    return NULL;
}

/* Caches of threads that sleep go down; with them the memory behind them. */
static void caches_of_idle_threads_go(void **state)
{
    struct sleeper sleepers[8];
    size_t cached;

    (void)state;
    if (!ink_os_barrier())
        skip();
    for (int i = 0; i < 8; i++) {
        sem_init(&sleepers[i].filled, 0, 0);
        sem_init(&sleepers[i].end, 0, 0);
        assert_int_equal(
            pthread_create(&sleepers[i].thread, NULL, fill_cache_and_sleep, &sleepers[i]), 0);
        while (sem_wait(&sleepers[i].filled) != 0)
            continue;
    }
    cached = ink_stats_collect().cached;
    assert_true(cached > MIB);
    tick(); /* sees that they have worked */
    tick();
    assert_true(ink_stats_collect().cached < cached / 4);
    for (int i = 0; i < 8; i++) {
        sem_post(&sleepers[i].end);
        pthread_join(sleepers[i].thread, NULL);
    }
}

/* Two of five items are left: too many for a collapse, and much of the runs lies free.  It goes
 * once, and again when more has become free. */
static void free_pages_between_live_items_go(void **state)
{
    size_t before, after;

    (void)state;
    take(ITEMS, 1024);
    for (int i = 0; i < ITEMS; i++)
        if (i / 8 % 5 > 1) {
            ink_heap_free(p[i], "free");
            p[i] = NULL;
        }
    before = ink_run_dirty_bytes();
    assert_true(before > 4 * MIB);
    tick();
    tick();
    after = ink_run_dirty_bytes();
    assert_true(after < before / 2);
    give(ITEMS);
}

/* decay:0: time changes nothing. */
static void without_decay_all_stays(void **state)
{
    struct timespec pause = {.tv_nsec = 10000000};

    (void)state;
    ink_options.decay = 0;
    take(RANGES, MIB / 2);
    give(RANGES);
    for (int i = 0; i < 100; i++) {
        nanosleep(&pause, NULL);
        ink_heap_free(ink_heap_alloc(40000), "free");
    }
    assert_true(ink_chunk_dirty_bytes() >= (RANGES - 2) * MIB / 2);
}

/* A second by the clock, and a few operations a second: what was free before is gone after two. */
static void operations_look_at_the_clock(void **state)
{
    struct timespec pause = {.tv_nsec = 10000000};
    int calls = 0;

    (void)state;
    ink_options.decay = 1;
    take(RANGES, MIB / 2);
    give(RANGES);
    while (ink_chunk_dirty_bytes() > MIB) {
        assert_in_range(calls++, 0, 1000);
        nanosleep(&pause, NULL);
        ink_heap_free(ink_heap_alloc(40000), "free");
    }
    assert_true(calls > 50);
}

#define TEST(f) cmocka_unit_test_setup(f, begin)

UNIT_MAIN(TEST(units_that_nobody_needs_go), TEST(units_that_are_needed_now_and_then_stay),
          TEST(kept_large_blocks_that_nobody_needs_go), TEST(caches_of_idle_threads_go),
          TEST(free_pages_between_live_items_go), TEST(without_decay_all_stays),
          TEST(operations_look_at_the_clock))
