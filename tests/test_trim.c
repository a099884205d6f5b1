/* Trimming: what is free goes back to the system, from wherever it lies; what is in use stays. */
#include "run.h"
#include "run_bytes.h"
#include "trim.h"
#include "cache_fast.h"
#include "freelist.h"
#include "heap.h"
#include "os.h"
#include "stats.h"
#include "turn.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 30000 };

static unsigned char *p[MANY];

static void fill(int count, size_t bytes)
{
    for (int i = 0; i < count; i++) {
        p[i] = ink_heap_alloc(bytes);
        assert_non_null(p[i]);
        memset(p[i], i % 255, bytes);
    }
}

/* With nothing in use, nothing stays mapped. */
static void trim_with_nothing_in_use_unmaps_all(void **state)
{
    static const size_t sizes[] = {16, 64, 500, 8192, 40000};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int count = sizes[s] > 1000 ? 500 : MANY;
        size_t mapped;

        fill(count, sizes[s]);
        for (int i = 0; i < count; i++)
            ink_heap_free(p[i], "free");
        mapped = ink_stats_collect().mapped;
        assert_true(mapped > 0);
        assert_int_equal(ink_trim(), mapped);
        assert_int_equal(ink_stats_collect().mapped, 0);
        assert_int_equal(ink_trim(), 0);
    }
}

/* What is in use keeps its contents, and can be freed afterwards. */
static void trim_with_some_in_use_keeps_them(void **state)
{
    (void)state;
    fill(MANY, 200);
    for (int i = 0; i < MANY; i++)
        if (i % 10 != 0)
            ink_heap_free(p[i], "free");
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().live_blocks, MANY / 10);
    assert_int_equal(ink_stats_collect().cached_blocks, 0);
    for (int i = 0; i < MANY; i += 10) {
        assert_true(p[i][0] == i % 255 && p[i][199] == i % 255);
        ink_heap_free(p[i], "free");
    }
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().mapped, 0);
}

/* Blocks after a trim are as good as before. */
static void alloc_after_trim_works(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        fill(1000, 300);
        for (int i = 0; i < 1000; i++) {
            assert_true(p[i][0] == i % 255 && p[i][299] == i % 255);
            ink_heap_free(p[i], "free");
        }
        (void)ink_trim();
    }
    assert_int_equal(ink_stats_collect().mapped, 0);
}

/* Zeroed blocks in pages that were given back are zero. */
static void alloc_zeroed_after_trim_is_zero(void **state)
{
    unsigned char *kept, *zeroed;

    (void)state;
    kept = ink_heap_alloc(70000);
    fill(20, 70000);
    for (int i = 0; i < 20; i++)
        ink_heap_free(p[i], "free");
    assert_true(ink_trim() >= 20 * 70000);
    zeroed = ink_heap_alloc_zeroed(600000);
    assert_true(unit_is_zero(zeroed, 600000));
    ink_heap_free(zeroed, "free");
    ink_heap_free(kept, "free");
}

struct holder {
    pthread_barrier_t cached, done;
};

static void *cache_much(void *arg)
{
    struct holder *holder = arg;
    static __thread void *mine[2000];

    for (int i = 0; i < 2000; i++)
        mine[i] = ink_heap_alloc(64);
    for (int i = 0; i < 2000; i++)
        ink_heap_free(mine[i], "free");
    pthread_barrier_wait(&holder->cached);
    pthread_barrier_wait(&holder->done);
    /* Its bins are whole. */
    for (int i = 0; i < 2000; i++)
        mine[i] = ink_heap_alloc(64);
    for (int i = 0; i < 2000; i++)
        ink_heap_free(mine[i], "free");
    return NULL;
}

/* What another thread has cached is taken from it; without a barrier for all threads (emulators)
 * what it has loaded stays. */
static void trim_empties_caches_of_other_threads(void **state)
{
    struct holder holder;
    pthread_t thread;
    struct ink_stats before, after;

    (void)state;
    (void)ink_trim();
    pthread_barrier_init(&holder.cached, NULL, 2);
    pthread_barrier_init(&holder.done, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, cache_much, &holder), 0);
    pthread_barrier_wait(&holder.cached);
    before = ink_stats_collect();
    (void)ink_trim();
    after = ink_stats_collect();
    pthread_barrier_wait(&holder.done);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&holder.cached);
    pthread_barrier_destroy(&holder.done);

    assert_int_equal(before.cached_blocks >= 1000, 1);
    assert_in_range(after.cached_blocks, 0, ink_os_barrier() ? 0 : 63);
    assert_int_equal(after.live_blocks, 0);
    assert_int_equal(ink_stats_collect().live_blocks, 0);
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().mapped, 0);
}

/* A trim inside another operation (it lies interrupted beneath) leaves that one's cache alone. */
static void trim_inside_an_operation_spares_its_cache(void **state)
{
    struct ink_turn turn;
    struct ink_stats stats;

    (void)state;
    fill(100, 64);
    for (int i = 0; i < 100; i++)
        ink_heap_free(p[i], "free");
    turn = ink_turn_begin(ink_cache_take());
    (void)ink_trim();
    stats = ink_stats_collect();
    assert_in_range(stats.cached_blocks, 1, 63);
    ink_turn_end(&turn);
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().cached_blocks, 0);
}

enum { PEAK = 128 * 1024 };

static unsigned char *peak[PEAK];

/* In an order that empties no run before the end. */
static void free_share_of_peak(unsigned of, bool rest)
{
    for (size_t i = 0; i < PEAK; i++) {
        size_t at = i * 40503 % PEAK;

        if ((at % of == 0) == rest && peak[at] != NULL) {
            ink_heap_free(peak[at], "free");
            peak[at] = NULL;
        }
    }
}

static void fill_peak(void)
{
    for (size_t i = 0; i < PEAK; i++) {
        peak[i] = ink_heap_alloc(1024);
        assert_non_null(peak[i]);
        memset(peak[i], (int)(i % 255), 1024);
    }
}

/* 128 MiB, of which one block in 32 stays: no run is free, but most pages are, and go back with the
 * frees themselves; what stays is whole. */
static void free_of_most_gives_pages_back_without_a_call(void **state)
{
    size_t before;

    (void)state;
    if (!unit_resident_is_ours())
        skip();
    (void)ink_trim();
    before = unit_resident_bytes();
    fill_peak();
    assert_true(unit_resident_bytes() - before >= (size_t)120 << 20);
    free_share_of_peak(32, false);
    assert_in_range(unit_resident_bytes() - before, 0, (size_t)60 << 20);
    for (size_t i = 0; i < PEAK; i += 32)
        for (size_t b = 0; b < 1024; b++)
            assert_int_equal(peak[i][b], i % 255);
    free_share_of_peak(32, true);
    assert_in_range(unit_resident_bytes() - before, 0, (size_t)20 << 20);
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().mapped, 0);
}

/* What was purged under free items is memory like any other. */
static void alloc_from_purged_pages_works(void **state)
{
    static void *more[PEAK];

    (void)state;
    fill_peak();
    free_share_of_peak(64, false);
    for (size_t i = 0; i < PEAK; i++) {
        more[i] = ink_heap_alloc(1024);
        assert_non_null(more[i]);
        memset(more[i], 7, 1024);
    }
    for (size_t i = 0; i < PEAK; i += 64)
        for (size_t b = 0; b < 1024; b++)
            assert_int_equal(peak[i][b], i % 255);
    for (size_t i = 0; i < PEAK; i++)
        ink_heap_free(more[i], "free");
    free_share_of_peak(64, true);
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().mapped, 0);
    assert_int_equal(ink_run_out_bytes(), 0);
}

UNIT_MAIN(cmocka_unit_test(trim_with_nothing_in_use_unmaps_all),
          cmocka_unit_test(trim_with_some_in_use_keeps_them),
          cmocka_unit_test(alloc_after_trim_works),
          cmocka_unit_test(alloc_zeroed_after_trim_is_zero),
          cmocka_unit_test(trim_empties_caches_of_other_threads),
          cmocka_unit_test(free_of_most_gives_pages_back_without_a_call),
          cmocka_unit_test(alloc_from_purged_pages_works),
          cmocka_unit_test(trim_inside_an_operation_spares_its_cache))
