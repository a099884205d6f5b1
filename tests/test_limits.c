/* The soft and the hard limit: what is refused, what still fits, and that refusals lose nothing. */
#include "chunk.h"
#include "dirty.h"
#include "heap.h"
#include "large.h"
#include "options.h"
#include "trim.h"
#include "unit.h"

#include <pthread.h>
#include <string.h>

#define MIB  ((size_t)1024 * 1024)
#define HARD (64 * MIB)

enum { BLOCKS_MAX = 4000000 };

static void *blocks[BLOCKS_MAX];

static size_t resident_by_count(void)
{
    return ink_large_used_bytes() + ink_chunk_dirty_bytes() + ink_dirty_large();
}

/* Blocks of so many bytes until one is refused; how many.  Each is written to. */
static size_t fill(size_t bytes, size_t *usable)
{
    size_t count = 0;

    *usable = 0;
    while (count < BLOCKS_MAX && (blocks[count] = ink_heap_alloc(bytes)) != NULL) {
        *usable += ink_heap_usable(blocks[count], "malloc");
        memset(blocks[count++], 1, bytes);
    }
    return count;
}

static void empty(size_t count)
{
    while (count != 0)
        ink_heap_free(blocks[--count], "free");
}

static int limit_hard(void **state)
{
    (void)state;
    ink_options.limit_hard = HARD;
    ink_options.limit_soft = 0;
    return 0;
}

static int limit_soft(void **state)
{
    (void)state;
    ink_options.limit_hard = 0;
    ink_options.limit_soft = HARD;
    return 0;
}

static int no_limit(void **state)
{
    (void)state;
    ink_options.limit_hard = ink_options.limit_soft = 0;
    (void)ink_trim();
    return 0;
}

/* Whatever the blocks are, about as much as the limit fits, and no more; and as much again after
 * all was freed. */
static void hard_limit_holds_for_every_kind_of_block(void **state)
{
    static const size_t sizes[] = {16, 200, 5000, 32768, 100000, 700000, 2 * MIB, 5 * MIB};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int round = 0; round < 2; round++) {
            size_t usable, count = fill(sizes[i], &usable);

            assert_in_range(usable, HARD / 16 * 14, HARD);
            assert_true(resident_by_count() <= HARD);
            empty(count);
        }
}

/* What one kind has freed is room for another: caches, runs and kept blocks give way. */
static void frees_of_one_kind_make_room_for_another(void **state)
{
    static const size_t sizes[] = {64, 3 * MIB, 300000, 1000};
    size_t usable;
    void *large;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        empty(fill(sizes[i], &usable));
        large = ink_heap_alloc(48 * MIB);
        assert_non_null(large);
        assert_true(resident_by_count() <= HARD);
        ink_heap_free(large, "free");
    }
}

static void block_beyond_the_limit_is_refused_without_harm(void **state)
{
    void *p = ink_heap_alloc(MIB), *aligned;

    (void)state;
    assert_non_null(p);
    memset(p, 7, MIB);
    assert_null(ink_heap_alloc(HARD));
    assert_null(ink_heap_alloc_zeroed(HARD));
    assert_null(ink_heap_alloc_aligned(HARD, 2 * MIB));
    assert_null(ink_heap_realloc(p, HARD + MIB));
    assert_int_equal(((unsigned char *)p)[MIB - 1], 7);
    aligned = ink_heap_alloc_aligned(32 * MIB, 2 * MIB);
    assert_non_null(aligned);
    ink_heap_free(aligned, "free");
    ink_heap_free(p, "free");
}

/* Growth in place counts as what it adds, not as a second block. */
static void realloc_grows_up_to_the_limit(void **state)
{
    unsigned char *p = ink_heap_alloc(40 * MIB);

    (void)state;
    assert_non_null(p);
    p[0] = 5;
    assert_null(ink_heap_realloc(p, 80 * MIB));
    p = ink_heap_realloc(p, 60 * MIB);
    assert_non_null(p);
    assert_int_equal(p[0], 5);
    p = ink_heap_realloc(p, 2 * MIB);
    assert_non_null(p);
    assert_true(ink_large_used_bytes() < 8 * MIB);
    ink_heap_free(p, "free");
    assert_true(ink_large_used_bytes() < 8 * MIB);
}

/* Nothing is refused above the soft limit; but nothing free stays, either. */
static void soft_limit_refuses_nothing_and_keeps_nothing(void **state)
{
    void *held = ink_heap_alloc(HARD + 16 * MIB);
    size_t usable, count;

    (void)state;
    assert_non_null(held);
    for (count = 0; count < 80; count++)
        blocks[count] = ink_heap_alloc(count % 2 ? 2 * MIB : 300000);
    for (usable = 0; usable < count; usable++)
        assert_non_null(blocks[usable]);
    empty(count);
    assert_true(ink_chunk_dirty_bytes() + ink_dirty_large() == 0);
    ink_heap_free(held, "free");
}

/* Several threads together: each is refused now and then, none for ever, and what was counted is
 * given back. */
static void *churn(void *seed)
{
    unsigned random = (unsigned)(uintptr_t)seed;
    void *held[24] = {NULL};
    size_t served = 0;

    for (int i = 0; i < 20000; i++) {
        unsigned at = (random = random * 1103515245 + 12345) >> 16;
        size_t bytes = at % 3 == 0 ? 5 * MIB : at % 3 == 1 ? 400000 : 3000;

        at %= 24;
        if (held[at] != NULL)
            ink_heap_free(held[at], "free");
        held[at] = ink_heap_alloc(bytes);
        served += held[at] != NULL;
        /* The others may have runs in hand, and reservations that are about to be undone. */
        UNIT_CHECK(ink_large_used_bytes() <= HARD + 24 * MIB);
    }
    UNIT_CHECK(served > 1000);
    for (int i = 0; i < 24; i++)
        ink_heap_free(held[i], "free");
    unit_count_operations(20000);
    return NULL;
}

static void threads_at_the_limit_go_on_and_lose_nothing(void **state)
{
    size_t before = ink_dirty_large_in_use(), usable;
    pthread_t thread[4];

    (void)state;
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, churn, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(ink_dirty_large_in_use(), before);
    empty(fill(200, &usable));
    assert_in_range(usable, HARD / 16 * 14, HARD);
}

#define UNDER(test, limit) cmocka_unit_test_setup_teardown(test, limit, no_limit)

UNIT_MAIN(UNDER(hard_limit_holds_for_every_kind_of_block, limit_hard),
          UNDER(frees_of_one_kind_make_room_for_another, limit_hard),
          UNDER(block_beyond_the_limit_is_refused_without_harm, limit_hard),
          UNDER(realloc_grows_up_to_the_limit, limit_hard),
          UNDER(soft_limit_refuses_nothing_and_keeps_nothing, limit_soft),
          UNDER(threads_at_the_limit_go_on_and_lose_nothing, limit_hard))
