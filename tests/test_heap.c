/* The heap's routes: by size there, by address back. */
#include "heap.h"
#include "die.h"
#include "large.h"
#include "map.h"
#include "run.h"
#include "sizeclass.h"
#include "stats.h"
#include "thread.h"
#include "trim.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((size_t)1024)
#define MIB ((size_t)1024 * 1024)

enum { ERRNO_MARK = 4711 };

static char *alloc(size_t bytes)
{
    char *p = ink_heap_alloc(bytes);

    assert_non_null(p);
    return p;
}

static void release(void *p)
{
    ink_heap_free(p, "free");
}

/* What serves a block, told by its pointer alone. */
enum route { ITEM, RANGE, LARGE };

static enum route route_of(const void *p)
{
    struct ink_run *run = ink_run_find(p);

    if (run == NULL) {
        assert_true(ink_large_usable(p) != 0);
        return LARGE;
    }
    if (ink_run_state(run) == INK_RUN_RANGE) {
        assert_int_equal(ink_window_class(p), 0);
        return RANGE;
    }
    assert_int_equal(ink_run_state(run), INK_RUN_CLASS);
    return ITEM;
}

/* Up to 32 KiB items, up to 1 MiB ranges of units, above it large blocks; usable is what was asked
 * for or little more. */
static void alloc_of_each_size_takes_its_route(void **state)
{
    static const struct {
        size_t bytes, usable;
        enum route route;
    } cases[] = {
        {0, 16, ITEM},
        {1, 16, ITEM},
        {16, 16, ITEM},
        {17, 32, ITEM},
        {1024, 1024, ITEM},
        {1025, 1280, ITEM},
        {32768, 32768, ITEM},
        {32769, 65536, RANGE},
        {65536, 65536, RANGE},
        {65537, 131072, RANGE},
        {MIB - 1, MIB, RANGE},
        {MIB, MIB, RANGE},
        {MIB + 1, MIB + 4096, LARGE},
        {40 * MIB, 40 * MIB, LARGE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *p = alloc(cases[i].bytes);

        assert_int_equal(route_of(p), cases[i].route);
        if (cases[i].route != LARGE || ink_large_usable(p) % 65536 != 0)
            assert_int_equal(ink_heap_usable(p, "test"), cases[i].usable);
        assert_true(ink_heap_usable(p, "test") >= cases[i].bytes);
        assert_int_equal((uintptr_t)p % 16, 0);
        memset(p, 0x99, ink_heap_usable(p, "test"));
        release(p);
    }
}

/* Every small size gets the class that the table says. */
static void alloc_of_every_small_size_gets_its_class(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes <= 32768; bytes += bytes < 1100 ? 1 : 61) {
        char *p = alloc(bytes);

        assert_int_equal(ink_heap_usable(p, "test"), ink_size_classes[ink_class_for(bytes)].size);
        release(p);
    }
}

/* More than the address space has is NULL, for every way to ask, and errno is as before. */
static void alloc_of_too_much_gives_null(void **state)
{
    static const size_t sizes[] = {(size_t)PTRDIFF_MAX - 4095, PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1,
                                   SIZE_MAX - 65536, SIZE_MAX};
    char *p = alloc(100);

    (void)state;
    errno = ERRNO_MARK;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_null(ink_heap_alloc(sizes[i]));
        assert_null(ink_heap_alloc_big(sizes[i]));
        assert_null(ink_heap_alloc_zeroed(sizes[i]));
        assert_null(ink_heap_alloc_aligned(sizes[i], 64));
        assert_null(ink_heap_alloc_aligned(sizes[i], 2 * MIB));
        assert_null(ink_heap_realloc(p, sizes[i]));
    }
    assert_null(ink_heap_alloc_aligned(1, (SIZE_MAX >> 1) + 1));
    assert_null(ink_heap_alloc_aligned(SIZE_MAX, (SIZE_MAX >> 1) + 1));
    assert_int_equal(errno, ERRNO_MARK);
    assert_int_equal(ink_heap_usable(p, "test"), 112);
    release(p);
}

/* Zeroed blocks are zero, also where another block has been before. */
static void alloc_zeroed_is_zero_where_others_have_been(void **state)
{
    static const size_t sizes[] = {1,     16,        100, 1024,    5000,   32768,
                                   32769, 200 * KIB, MIB, MIB + 1, 5 * MIB};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int round = 0; round < 3; round++) {
            char *p = ink_heap_alloc_zeroed(sizes[i]);

            assert_non_null(p);
            assert_true(unit_is_zero(p, sizes[i]));
            memset(p, 0xdd, sizes[i]);
            release(p);
        }
}

/* Every alignment from 1 byte to 1 GiB holds for every kind of size; the blocks can be used,
 * resized and freed like any. */
static void alloc_aligned_of_any_alignment_and_size_is_aligned(void **state)
{
    static const size_t sizes[] = {0,     1,     17,        100, 4096,    30000,
                                   32768, 33000, 100 * KIB, MIB, MIB + 1, 3 * MIB};

    (void)state;
    for (size_t alignment = 1; alignment <= 1024 * MIB; alignment *= 2)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            char *p[3];

            for (int k = 0; k < 3; k++) {
                p[k] = ink_heap_alloc_aligned(sizes[i], alignment);
                assert_non_null(p[k]);
                assert_int_equal((uintptr_t)p[k] % alignment, 0);
                assert_int_equal((uintptr_t)p[k] % 16, 0);
                assert_true(ink_heap_usable(p[k], "test") >= sizes[i]);
                if (sizes[i] != 0)
                    p[k][0] = p[k][sizes[i] - 1] = (char)(k + 1);
            }
            for (int k = 0; k < 3; k++) {
                if (sizes[i] != 0)
                    assert_true(p[k][0] == k + 1 && p[k][sizes[i] - 1] == k + 1);
                release(p[k]);
            }
        }
}

/* Usable is the same for as long as the block lives, and nothing for NULL. */
static void usable_of_null_is_0(void **state)
{
    (void)state;
    assert_int_equal(ink_heap_usable(NULL, "test"), 0);
    ink_heap_free(NULL, "free");
}

/* What no address space can hold is refused at once: the caches, and the chunks beneath, stay as
 * they are. */
static void alloc_beyond_the_address_space_gives_nothing_back(void **state)
{
    void *p = alloc(100);
    struct ink_stats before;

    (void)state;
    if (sizeof(size_t) < 8)
        skip();
    release(p);
    before = ink_stats_collect();
    assert_true(before.cached_blocks > 0);
    for (unsigned shift = 50; shift < 63; shift++) {
        assert_null(ink_heap_alloc((size_t)1 << shift));
        assert_null(ink_heap_alloc_zeroed((size_t)1 << shift));
        assert_null(ink_heap_alloc_aligned(100, (size_t)1 << shift));
    }
    assert_int_equal(ink_stats_collect().cached_blocks, before.cached_blocks);
    assert_int_equal(ink_stats_collect().mapped, before.mapped);
}

struct query {
    void *const *p;
    unsigned count;
};

static void query_in_new_thread(void *arg)
{
    const struct query *query = arg;

    for (unsigned i = 0; i < query->count; i++)
        UNIT_CHECK(ink_heap_usable(query->p[i], "test") != 0);
    (void)ink_stats_collect();
    UNIT_CHECK(ink_tls_thread == NULL);
    UNIT_CHECK(ink_load_relaxed(&ink_tls_cache) == INK_CACHE_EMPTY);
}

/* A thread that only asks gets no record for it: it may be one whose record has just been given up
 * (P15). */
static void usable_and_stats_in_new_thread_make_no_state(void **state)
{
    void *p[] = {alloc(10), alloc(32 * KIB), alloc(100 * KIB), alloc(3 * MIB)};
    struct query query = {.p = p, .count = sizeof p / sizeof p[0]};

    (void)state;
    unit_threads(1, query_in_new_thread, &query, sizeof query);
    for (unsigned i = 0; i < query.count; i++)
        release(p[i]);
}

/* A block is kept as long as it holds the bytes and is not more than twice too large. */
static void realloc_keeps_block_that_fits(void **state)
{
    static const size_t usables[] = {64, 1024, 20480, 65536, 196608, MIB};

    (void)state;
    for (size_t i = 0; i < sizeof usables / sizeof usables[0]; i++) {
        char *p = alloc(usables[i]);

        assert_int_equal(ink_heap_usable(p, "test"), usables[i]);
        assert_ptr_equal(ink_heap_realloc(p, usables[i]), p);
        assert_ptr_equal(ink_heap_realloc(p, usables[i] - 1), p);
        assert_ptr_equal(ink_heap_realloc(p, usables[i] / 2 + 1), p);
        assert_ptr_equal(ink_heap_realloc(p, usables[i] / 2), p);
        release(p);
    }
}

/* One byte less than half, and the block moves to one that suits. */
static void realloc_does_not_keep_block_more_than_twice_too_large(void **state)
{
    static const size_t usables[] = {64, 1024, 20480, 65536, 196608, MIB, 8 * MIB};

    (void)state;
    for (size_t i = 0; i < sizeof usables / sizeof usables[0]; i++) {
        char *p = alloc(usables[i]), *q;
        size_t bytes = usables[i] / 2 - 1;

        memset(p, 0x5a, usables[i]);
        q = ink_heap_realloc(p, bytes);
        assert_non_null(q);
        assert_in_range(ink_heap_usable(q, "test"), bytes,
                        bytes <= 32768 ? bytes * 5 / 4 + 16 : bytes + 65536);
        assert_true(q[0] == 0x5a && q[bytes - 1] == 0x5a);
        release(q);
    }
}

/* The smallest block stays, however little is wanted of it. */
static void realloc_of_smallest_block_to_one_byte_keeps_it(void **state)
{
    char *p = alloc(16);

    (void)state;
    assert_ptr_equal(ink_heap_realloc(p, 1), p);
    release(p);
}

/* From every route to every other the contents come along. */
static void realloc_between_all_routes_keeps_contents(void **state)
{
    static const size_t sizes[] = {24, 700, 9000, 32768, 33000, 300 * KIB, MIB, MIB + 5, 4 * MIB};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
            size_t kept = sizes[i] < sizes[j] ? sizes[i] : sizes[j],
                   live = ink_stats_collect().live_blocks;
            unsigned char *p = (unsigned char *)alloc(sizes[i]);

            for (size_t k = 0; k < sizes[i]; k += 7)
                p[k] = (unsigned char)(k % 255);
            p = ink_heap_realloc(p, sizes[j]);
            assert_non_null(p);
            assert_true(ink_heap_usable(p, "test") >= sizes[j]);
            for (size_t k = 0; k < kept; k += 7)
                if (p[k] != k % 255)
                    fail_msg("%zu -> %zu: byte %zu has changed", sizes[i], sizes[j], k);
            release(p);
            assert_int_equal(ink_stats_collect().live_blocks, live);
        }
}

/* What cannot be had leaves the block as it was. */
static void realloc_to_too_much_leaves_block_alone(void **state)
{
    static const size_t sizes[] = {100, 100000, 2 * MIB};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *p = alloc(sizes[i]);

        memset(p, 0x21, sizes[i]);
        assert_null(ink_heap_realloc(p, (size_t)PTRDIFF_MAX - 16 * MIB));
        assert_null(ink_heap_realloc(p, SIZE_MAX));
        assert_true(p[0] == 0x21 && p[sizes[i] - 1] == 0x21);
        release(p);
    }
}

/* The heap beyond the window's reach: blocks are found by their owners alone. */
static void free_outside_the_window_works_by_owner(void **state)
{
    uintptr_t top = ink_load_relaxed(&ink_window.top);
    char *p[100], *q;
    size_t live = ink_stats_collect().live_blocks;

    (void)state;
    for (int i = 0; i < 100; i++)
        p[i] = alloc(64);
    /* The window elsewhere, as if these blocks were too far away from it. */
    ink_store_relaxed(&ink_window.top, top ^ (uintptr_t)1 << (8 * sizeof top - 4));
    for (int i = 0; i < 100; i++) {
        assert_int_equal(ink_window_class(p[i]), 0);
        assert_int_equal(ink_heap_usable(p[i], "test"), 64);
    }
    q = ink_heap_realloc(p[0], 1000);
    assert_non_null(q);
    release(q);
    for (int i = 1; i < 100; i++)
        release(p[i]);
    ink_store_relaxed(&ink_window.top, top);
    assert_int_equal(ink_stats_collect().live_blocks, live);
}

/* ---- misuse ---- */

struct call {
    void *p;
    int how; /* 0: free, 1: realloc, 2: usable */
};

static void call(void *arg)
{
    struct call *c = arg;

    if (c->how == 0)
        ink_heap_free(c->p, "some_free");
    else if (c->how == 1)
        (void)ink_heap_realloc(c->p, 10000000);
    else
        (void)ink_heap_usable(c->p, "some_usable");
}

static void assert_dies(void *p, const char *fault)
{
    static const char *const names[] = {"some_free", "realloc", "some_usable"};

    for (int how = 0; how < 3; how++) {
        struct call c = {p, how};

        unit_assert_misuse(call, &c, fault, names[how], p);
    }
}

/* Odd pointers into any kind of block are misaligned. */
static void free_of_misaligned_pointer_dies(void **state)
{
    static const size_t sizes[] = {64, 100000, 2 * MIB};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *p = alloc(sizes[i]);

        assert_dies(p + 1, INK_FAULT_MISALIGNED);
        assert_dies(p + 8, INK_FAULT_MISALIGNED);
        release(p);
    }
}

/* What was never ours is foreign. */
static void free_of_foreign_pointer_dies(void **state)
{
    static _Alignas(16) char mine[32];
    _Alignas(16) char stack[32];

    (void)state;
    assert_dies(mine, INK_FAULT_FOREIGN);
    assert_dies(stack, INK_FAULT_FOREIGN);
    assert_dies((void *)(uintptr_t)16, INK_FAULT_FOREIGN);
    assert_dies((void *)(UINTPTR_MAX - 15), INK_FAULT_FOREIGN);
}

/* Pointers into ranges and large blocks are interior. */
static void free_of_interior_pointer_dies(void **state)
{
    char *range = alloc(200 * KIB), *large = alloc(2 * MIB);

    (void)state;
    assert_dies(range + 16, INK_FAULT_INTERIOR);
    assert_dies(range + 100 * KIB, INK_FAULT_INTERIOR);
    assert_dies(large + 16, INK_FAULT_INTERIOR);
    release(range);
    release(large);
}

static void free_the_item(void *item)
{
    ink_heap_free(item, "some_free");
}

/* A second free of anything that is caught at once. */
static void free_twice_dies(void **state)
{
    char *item = alloc(64), *range = alloc(100000), *large = alloc(2 * MIB);

    (void)state;
    release(item);
    release(range);
    release(large);
    assert_dies(large, INK_FAULT_DOUBLE);
    assert_dies(range, INK_FAULT_DOUBLE);
    release(alloc(64));
    /* Items may be found out long afterwards, when nobody knows any more what freed them: always in
     * the name of free. */
    unit_assert_misuse(free_the_item, item, INK_FAULT_DOUBLE, "free", item);
}

enum { THREADS = 4 };

struct racer {
    char *p;
};

static void free_the_same(void *arg)
{
    ink_heap_free(((struct racer *)arg)->p, "free");
}

static void race_frees(void *arg)
{
    struct racer racers[THREADS];

    for (int i = 0; i < THREADS; i++)
        racers[i].p = *(char **)arg;
    unit_threads(THREADS, free_the_same, racers, sizeof racers[0]);
}

/* Of several frees of a range at once one wins; the others die. */
static void free_of_one_range_by_many_threads_dies(void **state)
{
    char *p = alloc(100000);

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct unit_end end = unit_child(race_frees, &p);
        const char *line = strstr(end.text, "inkalloc: double free in free(");

        /* Two threads may say it at once. */
        assert_ptr_equal(line, end.text);
        assert_int_not_equal(end.status, 0);
    }
    release(p);
}

UNIT_MAIN(cmocka_unit_test(alloc_of_each_size_takes_its_route),
          cmocka_unit_test(alloc_of_every_small_size_gets_its_class),
          cmocka_unit_test(alloc_of_too_much_gives_null),
          cmocka_unit_test(alloc_zeroed_is_zero_where_others_have_been),
          cmocka_unit_test(alloc_aligned_of_any_alignment_and_size_is_aligned),
          cmocka_unit_test(alloc_beyond_the_address_space_gives_nothing_back),
          cmocka_unit_test(usable_of_null_is_0),
          cmocka_unit_test(usable_and_stats_in_new_thread_make_no_state),
          cmocka_unit_test(realloc_keeps_block_that_fits),
          cmocka_unit_test(realloc_does_not_keep_block_more_than_twice_too_large),
          cmocka_unit_test(realloc_of_smallest_block_to_one_byte_keeps_it),
          cmocka_unit_test(realloc_between_all_routes_keeps_contents),
          cmocka_unit_test(realloc_to_too_much_leaves_block_alone),
          cmocka_unit_test(free_outside_the_window_works_by_owner),
          cmocka_unit_test(free_of_misaligned_pointer_dies),
          cmocka_unit_test(free_of_foreign_pointer_dies),
          cmocka_unit_test(free_of_interior_pointer_dies), cmocka_unit_test(free_twice_dies),
          cmocka_unit_test(free_of_one_range_by_many_threads_dies))
