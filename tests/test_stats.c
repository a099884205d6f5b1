/* Sums: everything that is mapped is live, cached or free, and each moves by what is done. */
#include "stats.h"
#include "heap.h"
#include "head.h"
#include "thread.h"
#include "trim.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void assert_adds_up(const struct ink_stats *stats)
{
    assert_int_equal(stats->live + stats->cached + stats->free, stats->mapped);
    assert_int_equal(stats->mapped % 65536, 0);
    assert_true(stats->large_peak >= stats->large &&
                stats->large_blocks_peak >= stats->large_blocks);
}

static struct ink_stats collect(void)
{
    struct ink_stats stats = ink_stats_collect();

    assert_adds_up(&stats);
    return stats;
}

/* A process that has not allocated has nothing. */
static void collect_before_first_block_is_zero(void **state)
{
    struct ink_stats stats = collect();

    (void)state;
    assert_int_equal(stats.mapped, 0);
    assert_int_equal(
        stats.live_blocks + stats.cached_blocks + stats.free_blocks + stats.large_blocks, 0);
}

/* Each block counts with what it takes, from its allocation to its free. */
static void live_moves_by_what_is_allocated(void **state)
{
    static const struct {
        size_t bytes, takes;
    } cases[] = {{1, 16},        {64, 64},       {130, 160}, {5000, 5120},
                 {32768, 32768}, {40000, 65536}, {MIB, MIB}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ink_stats before = collect(), during, after;
        void *p = ink_heap_alloc(cases[i].bytes);

        during = collect();
        assert_int_equal(during.live - before.live, cases[i].takes);
        assert_int_equal(during.live_blocks - before.live_blocks, 1);
        ink_heap_free(p, "free");
        after = collect();
        assert_int_equal(after.live, before.live);
        assert_int_equal(after.live_blocks, before.live_blocks);
    }
}

/* Thousands of blocks of all classes are counted to the last one, whether half are freed or all. */
static void live_counts_many_blocks_exactly(void **state)
{
    enum { MANY = 20000 };
    static void *p[MANY];
    size_t expected = 0, blocks = 0;
    struct ink_stats before = collect();
    uint64_t seed = 11;

    (void)state;
    for (int i = 0; i < MANY; i++) {
        size_t bytes = unit_random(&seed) % 3000;

        p[i] = ink_heap_alloc(bytes);
        expected += ink_size_classes[ink_class_for(bytes)].size;
    }
    assert_int_equal(collect().live - before.live, expected);
    assert_int_equal(collect().live_blocks - before.live_blocks, MANY);
    for (int i = 0; i < MANY; i += 2) {
        expected -= ink_heap_usable(p[i], "test");
        ink_heap_free(p[i], "free");
        blocks++;
    }
    assert_int_equal(collect().live - before.live, expected);
    assert_int_equal(collect().live_blocks - before.live_blocks, MANY - blocks);
    for (int i = 1; i < MANY; i += 2)
        ink_heap_free(p[i], "free");
    assert_int_equal(collect().live, before.live);
    assert_int_equal(collect().live_blocks, before.live_blocks);
}

/* A freed block is cached first, and free after a trim. */
static void cached_becomes_free_by_trim(void **state)
{
    struct ink_stats stats;
    void *kept, *p;

    (void)state;
    (void)ink_trim();
    kept = ink_heap_alloc(64);
    p = ink_heap_alloc(64);
    ink_heap_free(p, "free");
    stats = collect();
    assert_true(stats.cached_blocks >= 1 && stats.cached == 64 * stats.cached_blocks);
    (void)ink_trim();
    stats = collect();
    assert_int_equal(stats.cached_blocks, 0);
    assert_int_equal(stats.cached, 0);
    assert_true(stats.free_blocks >= 1);
    ink_heap_free(kept, "free");
}

/* Large blocks are counted apart, with their peaks. */
static void large_moves_by_large_blocks_only(void **state)
{
    struct ink_stats before = collect(), during;
    void *p = ink_heap_alloc(2 * MIB), *q = ink_heap_alloc(64);

    (void)state;
    during = collect();
    assert_int_equal(during.large - before.large, 2 * MIB);
    assert_int_equal(during.large_blocks - before.large_blocks, 1);
    assert_int_equal(during.live_blocks - before.live_blocks, 1);
    assert_true(during.large_peak >= 2 * MIB);
    ink_heap_free(p, "free");
    ink_heap_free(q, "free");
    assert_int_equal(collect().large, before.large);
    assert_int_equal(collect().large_blocks, before.large_blocks);
    assert_int_equal(collect().large_peak, during.large_peak);
}

/* Records are counted, and only grow. */
static void metadata_is_counted(void **state)
{
    struct ink_stats before = collect(), after;
    void *p = ink_heap_alloc(64);

    (void)state;
    after = collect();
    assert_true(after.metadata > 0 && after.metadata >= before.metadata);
    ink_heap_free(p, "free");
}

static void cache_and_count(void *arg)
{
    size_t *seen = arg;
    void *p[50];

    for (int i = 0; i < 50; i++)
        p[i] = ink_heap_alloc(96);
    for (int i = 0; i < 50; i++)
        ink_heap_free(p[i], "free");
    *seen = ink_stats_collect().cached_blocks;
}

/* What any thread has cached is in the sum while the thread lives, and still somewhere when it has
 * ended. */
static void cached_counts_all_threads(void **state)
{
    struct ink_stats before, after;
    size_t seen;

    (void)state;
    (void)ink_trim();
    before = collect();
    unit_threads(1, cache_and_count, &seen, sizeof seen);
    assert_true(seen >= before.cached_blocks + 50);
    after = collect();
    assert_int_equal(after.live_blocks, before.live_blocks);
}

/* The banner names library, version and head, and is one line. */
static void banner_names_library_version_and_head(void **state)
{
    (void)state;
    assert_string_equal(ink_stats_banner, "inkalloc " PACKAGE_VERSION ", head " INK_HEAD_NAME "\n");
}

/* What is resident is in use, cached, dirty, kept or metadata: at most those, and at least what is
 * in use, as all of it was written. */
static void assert_explains(size_t resident_at_start)
{
    struct ink_stats stats = collect();
    size_t resident = unit_resident_bytes() - resident_at_start;
    size_t explained = stats.live + stats.cached + stats.dirty + stats.large + stats.large_kept;

    assert_true(stats.dirty <= stats.free);
    assert_in_range(resident, (stats.live + stats.large) / 10 * 8,
                    explained + stats.metadata + MIB);
}

enum { BLOCKS = 60000 };

static void sums_explain_what_is_resident(void **state)
{
    static void *p[BLOCKS];
    size_t start;
    void *large;

    (void)state;
    if (!unit_resident_is_ours())
        skip();
    (void)ink_trim();
    memset(p, 0, sizeof p);
    start = unit_resident_bytes();
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t bytes = 16 + i * 7919 % 3000;

        p[i] = ink_heap_alloc(bytes);
        assert_non_null(p[i]);
        memset(p[i], 1, ink_heap_usable(p[i], "test"));
    }
    assert_explains(start);
    for (size_t i = 0; i < BLOCKS; i++)
        if (i % 10 != 0)
            ink_heap_free(p[i], "free");
    assert_explains(start);
    large = ink_heap_alloc(5 * MIB);
    memset(large, 1, 5 * MIB);
    assert_explains(start);
    ink_heap_free(large, "free");
    assert_true(collect().large_kept >= 5 * MIB);
    assert_explains(start);
    for (size_t i = 0; i < BLOCKS; i += 10)
        ink_heap_free(p[i], "free");
    assert_explains(start);
    (void)ink_trim();
    assert_explains(start);
    assert_int_equal(collect().mapped + collect().large_kept, 0);
}

UNIT_MAIN(cmocka_unit_test(collect_before_first_block_is_zero),
          cmocka_unit_test(live_moves_by_what_is_allocated),
          cmocka_unit_test(live_counts_many_blocks_exactly),
          cmocka_unit_test(cached_becomes_free_by_trim),
          cmocka_unit_test(large_moves_by_large_blocks_only), cmocka_unit_test(metadata_is_counted),
          cmocka_unit_test(cached_counts_all_threads),
          cmocka_unit_test(banner_names_library_version_and_head),
          cmocka_unit_test(sums_explain_what_is_resident))
