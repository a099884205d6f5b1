/* Chunks: runs of units, what is known to be zero, what goes back to the system, and repair after a
 * fork.
 *
 * The source itself stands in place of the library's object: tests hold the lock and look at the
 * masks. */
#include "units.c"
#include "chunk.c"
#include "purge.c"
#include "dirty.c"
#include "options.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct ink_locker me = {.owner = 1, .outermost = true};
static const struct ink_locker other = {.owner = 2, .outermost = true};

static struct ink_run *take(unsigned units, unsigned alignment)
{
    struct ink_run *run = ink_chunk_take(units, alignment, me);

    assert_non_null(run);
    return run;
}

static void give(struct ink_run *run)
{
    ink_store_release(&run->state, INK_RUN_RETURNED);
    ink_chunk_give(run, me);
}

/* Everything back to the system, what a failed test had out as well, so that a test begins with
 * nothing. */
static int give_all_back(void **state)
{
    (void)state;
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
            if ((chunk->owned >> i & 1) != 0 && ink_run_state(&chunk->run[i]) != INK_RUN_FREE)
                give(&chunk->run[i]);
    (void)ink_purge_trim(me);
    return 0;
}

static size_t mapped_units(void)
{
    size_t units = 0;

    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        units += (unsigned)__builtin_popcount(chunk->owned);
    return units;
}

/* What the masks say must follow from the states of the runs, for every chunk. */
static void assert_masks_are_true(void)
{
    size_t free_units = 0, dirty_units = 0;

    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next) {
        uint32_t used = 0;

        if (chunk->owned == 0) {
            assert_int_equal(chunk->free, 0);
            continue;
        }
        for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
            if (ink_run_state(&chunk->run[i]) != INK_RUN_FREE) {
                assert_int_equal(used & ink_units_mask(i, chunk->run[i].units), 0);
                used |= ink_units_mask(i, chunk->run[i].units);
            }
        assert_int_equal(chunk->free, chunk->owned & ~used);
        assert_int_equal(chunk->zero & ~chunk->free, 0);
        assert_int_equal(chunk->bucket, ink_chunk_bucket(chunk->free));
        assert_int_equal(chunk->clean & ~chunk->free, 0);
        assert_int_equal(chunk->purged & ~chunk->clean, 0);
        free_units += (size_t)__builtin_popcount(chunk->free);
        dirty_units += chunk->stuck ? 0 : (size_t)__builtin_popcount(chunk->free & ~chunk->clean);
    }
    assert_int_equal(ink_load_relaxed(&ink_units.free_units), free_units);
    assert_int_equal(ink_load_relaxed(&ink_units.dirty_units), dirty_units);
    assert_int_equal(ink_load_relaxed(&ink_chunk_mapped), mapped_units());
}

/* A run has the units asked for, at that alignment, in state TAKEN, each of them leading to its
 * record. */
static void take_of_any_units_and_alignment_gives_such_a_run(void **state)
{
    (void)state;
    for (unsigned alignment = 1; alignment <= INK_RUN_UNITS_MAX; alignment *= 2)
        for (unsigned units = 1; units <= INK_RUN_UNITS_MAX; units++) {
            struct ink_run *run = take(units, alignment);

            assert_int_equal((uintptr_t)run->base % ((size_t)alignment * INK_UNIT_BYTES), 0);
            assert_int_equal(run->units, units);
            assert_int_equal(ink_run_bytes(run), units * 65536);
            assert_int_equal(ink_run_state(run), INK_RUN_TAKEN);
            assert_ptr_equal(&ink_chunk_of_run(run)->run[run->number], run);
            for (unsigned i = 0; i < units; i++)
                assert_int_equal(ink_owner_of(run->base + (size_t)i * INK_UNIT_BYTES),
                                 (uintptr_t)run);
            memset(run->base, 1, ink_run_bytes(run));
            assert_masks_are_true();
            if (units % 3 != 0)
                give(run);
        }
}

enum { HELD = 60 };

/* Runs that are out at the same time share no byte, whatever was taken and given before. */
static void take_and_give_at_random_never_overlap(void **state)
{
    struct ink_run *held[HELD] = {NULL};
    uint64_t seed = 3;

    (void)state;
    for (int step = 0; step < 4000; step++) {
        unsigned i = unit_random(&seed) % HELD;
        struct ink_run *run = held[i];

        if (run == NULL) {
            run = take(1 + unit_random(&seed) % INK_RUN_UNITS_MAX, 1u << unit_random(&seed) % 5);
            /* Says it is zero only if it is. */
            for (unsigned u = 0; u < run->units && run->zeroed; u++)
                assert_true(unit_is_zero(run->base + (size_t)u * INK_UNIT_BYTES, 32));
            for (unsigned u = 0; u < run->units; u++)
                memset(run->base + (size_t)u * INK_UNIT_BYTES, (int)i + 1, 32);
            held[i] = run;
            continue;
        }
        for (unsigned u = 0; u < run->units; u++)
            for (int b = 0; b < 32; b++)
                assert_int_equal(run->base[(size_t)u * INK_UNIT_BYTES + (size_t)b], i + 1);
        give(run);
        held[i] = NULL;
        if (step % 500 == 0)
            (void)ink_purge_trim(me);
        if (step % 100 == 0)
            assert_masks_are_true();
    }
    for (int i = 0; i < HELD; i++)
        if (held[i] != NULL)
            give(held[i]);
    assert_masks_are_true();
}

/* Units fresh from the system are known to be zero, and are; those that come back are not. */
static void zeroed_holds_for_fresh_units_only(void **state)
{
    struct ink_run *run = take(3, 1), *again;
    char *base = run->base;

    (void)state;
    assert_true(run->zeroed);
    assert_true(unit_is_zero(run->base, ink_run_bytes(run)));
    memset(run->base, 0xee, ink_run_bytes(run));
    give(run);

    again = take(3, 1);
    assert_ptr_equal(again->base, base);
    assert_false(again->zeroed);
    give(again);
    /* One fresh unit among used ones is not enough. */
    again = take(4, 1);
    assert_ptr_equal(again->base, base);
    assert_false(again->zeroed);
    give(again);
}

/* A chunk is used up to its last unit before another one is mapped. */
static void take_fills_a_chunk_before_it_maps_another(void **state)
{
    static const unsigned sizes[] = {1, 2, 4, 8, 16};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ink_run *runs[INK_CHUNK_UNITS];
        unsigned count = INK_CHUNK_UNITS / sizes[i];

        (void)ink_purge_trim(me);
        assert_int_equal(mapped_units(), 0);
        for (unsigned n = 0; n < count; n++)
            runs[n] = take(sizes[i], 1);
        if (mapped_units() != INK_CHUNK_UNITS)
            fail_msg("runs of %u units: %zu units are mapped for %u", sizes[i], mapped_units(),
                     INK_CHUNK_UNITS);
        for (unsigned n = 0; n < count; n++)
            give(runs[n]);
    }
}

/* Of several chunks the one with the least room left is used first, so that the others can become
 * empty. */
static void take_prefers_the_fullest_chunk(void **state)
{
    struct ink_run *halves[4], *run;

    (void)state;
    for (int i = 0; i < 2; i++) {
        halves[2 * i] = take(15, 1);
        halves[2 * i + 1] = take(15, 1);
    }
    /* Two chunks with two units left each; a third with all but one free. */
    run = take(3, 1);
    assert_int_equal(mapped_units(), 3 * INK_CHUNK_UNITS);
    for (int i = 0; i < 4; i++) {
        struct ink_run *small = take(1, 1);

        assert_ptr_not_equal(ink_chunk_of_run(small), ink_chunk_of_run(run));
    }
    give(run);
    for (int i = 0; i < 4; i++)
        give(halves[i]);
}

/* Who cannot have the lock leaves a run returned; the next who has it makes its units free. */
static void give_without_lock_is_merged_by_the_next_holder(void **state)
{
    struct ink_run *run = take(2, 1), *again;
    char *base = run->base;

    (void)state;
    assert_int_equal(ink_lock_try(&ink_units.lock, other), INK_LOCK_TAKEN);
    give(run);
    assert_int_equal(ink_run_state(run), INK_RUN_RETURNED);
    ink_lock_release(&ink_units.lock, other);

    again = take(2, 1);
    assert_ptr_equal(again->base, base);
    assert_masks_are_true();
    give(again);
    assert_int_equal(ink_run_state(again), INK_RUN_FREE);
}

/* While the lock cannot be had, a run is mapped for itself, no larger than it is. */
static void take_without_lock_maps_just_the_run(void **state)
{
    struct ink_run *run;
    size_t before = mapped_units();

    (void)state;
    assert_int_equal(ink_lock_try(&ink_units.lock, other), INK_LOCK_TAKEN);
    run = ink_chunk_take(3, 2, me);
    assert_non_null(run);
    assert_int_equal(mapped_units() - before, 3);
    assert_int_equal((uintptr_t)run->base % (2 * INK_UNIT_BYTES), 0);
    assert_true(run->zeroed);
    memset(run->base, 1, ink_run_bytes(run));
    ink_lock_release(&ink_units.lock, other);
    give(run);
    assert_masks_are_true();
}

/* Trimming unmaps what is wholly free: nothing leads there any more, and it can all be mapped
 * anew. */
static void trim_of_free_chunks_unmaps_them(void **state)
{
    struct ink_run *runs[5];
    char *base[5];

    (void)state;
    for (int i = 0; i < 5; i++) {
        runs[i] = take(16, 1);
        base[i] = runs[i]->base;
        memset(base[i], 2, ink_run_bytes(runs[i]));
    }
    for (int i = 0; i < 5; i++)
        give(runs[i]);
    assert_true(ink_purge_trim(me) >= (size_t)5 * 16 * INK_UNIT_BYTES);
    assert_int_equal(mapped_units(), 0);
    for (int i = 0; i < 5; i++) {
        assert_false(unit_is_mapped(base[i], 1));
        assert_int_equal(ink_owner_of(base[i]), 0);
    }
    assert_masks_are_true();
    assert_int_equal(ink_purge_trim(me), 0);
    runs[0] = take(16, 1);
    assert_true(runs[0]->zeroed);
    assert_true(unit_is_zero(runs[0]->base, ink_run_bytes(runs[0])));
    give(runs[0]);
}

/* Trimming a chunk that is in use empties its free units and leaves the others alone. */
static void trim_of_chunk_in_use_purges_its_free_units(void **state)
{
    struct ink_run *kept = take(2, 1), *given = take(4, 1), *again;
    char *base = given->base;

    (void)state;
    memset(kept->base, 3, ink_run_bytes(kept));
    memset(given->base, 4, ink_run_bytes(given));
    give(given);
    assert_int_equal(ink_purge_trim(me), 4 * INK_UNIT_BYTES);
    assert_int_equal(kept->base[0], 3);
    assert_int_equal(kept->base[ink_run_bytes(kept) - 1], 3);
    assert_masks_are_true();
    /* A second time there is nothing left to give. */
    assert_int_equal(ink_purge_trim(me), 0);
    again = take(4, 1);
    assert_ptr_equal(again->base, base);
    assert_true(again->zeroed);
    assert_true(unit_is_zero(again->base, ink_run_bytes(again)));
    give(again);
    give(kept);
}

enum { MANY_RUNS = 64 };

static void dirty_all(struct ink_run **runs, unsigned count, unsigned units)
{
    for (unsigned i = 0; i < count; i++) {
        runs[i] = take(units, 1);
        memset(runs[i]->base, 5, ink_run_bytes(runs[i]));
    }
}

/* Of what becomes free only as much stays dirty as is allowed; the rest reads as zero, and is known
 * to. */
static void purge_excess_leaves_what_is_allowed(void **state)
{
    struct ink_run *runs[MANY_RUNS];
    size_t zeroed = 0, left;

    (void)state;
    dirty_all(runs, MANY_RUNS, 16);
    for (int i = 0; i < MANY_RUNS; i++)
        give(runs[i]);
    assert_true(ink_chunk_dirty_bytes() >= (size_t)64 << 20);
    ink_purge_excess(me);
    left = ink_chunk_dirty_bytes();
    assert_in_range(left, (size_t)6 << 20, (size_t)12 << 20);
    assert_masks_are_true();
    for (int i = 0; i < MANY_RUNS; i++) {
        runs[i] = take(16, 1);
        assert_true(!runs[i]->zeroed || unit_is_zero(runs[i]->base, ink_run_bytes(runs[i])));
        zeroed += runs[i]->zeroed ? ink_run_bytes(runs[i]) : 0;
    }
    assert_int_equal(zeroed + left, (size_t)64 << 20);
    for (int i = 0; i < MANY_RUNS; i++)
        give(runs[i]);
}

/* What is left to the system is no longer dirty and not known to be zero; a trim takes it for
 * good. */
static void purge_lazily_leaves_units_to_the_system(void **state)
{
    struct ink_run *runs[MANY_RUNS];

    (void)state;
    dirty_all(runs, MANY_RUNS, 16);
    ink_options.purge = INK_PURGING_LAZILY;
    for (int i = 1; i < MANY_RUNS; i++)
        give(runs[i]);
    ink_purge_down_to(0, me);
    assert_int_equal(ink_chunk_dirty_bytes(), 0);
    assert_masks_are_true();
    runs[1] = take(16, 1);
    assert_false(runs[1]->zeroed);
    assert_true(ink_purge_trim(me) >= (size_t)(MANY_RUNS - 4) * 16 * INK_UNIT_BYTES);
    ink_options.purge = INK_PURGING_NOW;
    runs[2] = take(16, 1);
    assert_true(runs[2]->zeroed);
    assert_true(unit_is_zero(runs[2]->base, ink_run_bytes(runs[2])));
    assert_masks_are_true();
}

/* On a huge page the first unit that is used brings memory to all others: they still read as zero,
 * but are dirty, and can be purged. */
static void take_of_one_unit_on_a_huge_page_makes_the_others_dirty(void **state)
{
    size_t fixed = ink_options.dirty_max;
    struct ink_run *used, *other_one;

    (void)state;
    ink_options.thp = INK_THP_ALWAYS;
    for (int round = 0; round < 2; round++) { /* fresh, and once purged */
        used = take(1, 1);
        *used->base = 1;
        assert_true(used->zeroed);
        assert_int_equal(ink_chunk_dirty_bytes(), INK_CHUNK_BYTES - INK_UNIT_BYTES);
        other_one = take(1, 1);
        assert_true(other_one->zeroed);
        assert_masks_are_true();
        ink_options.dirty_max = 0;
        give(other_one);
        if (round == 0)
            give(used);
        ink_purge_excess(me);
        assert_int_equal(ink_chunk_dirty_bytes(), 0);
        assert_masks_are_true();
        ink_options.dirty_max = fixed;
    }
    assert_int_equal(*used->base, 1);
    ink_options.thp = INK_THP_AUTO;
}

/* Chunks that are wholly free go first: purging a part of one costs a huge page. */
static void purge_excess_takes_whole_chunks_first(void **state)
{
    struct ink_run *runs[MANY_RUNS];

    (void)state;
    ink_store_relaxed(&ink_dirty_regretted, 0);
    ink_store_relaxed(&ink_dirty_peak, 0);
    dirty_all(runs, MANY_RUNS, 8);
    for (int i = 0; i < MANY_RUNS / 2; i += 4) /* one of the four in a chunk */
        give(runs[i]);
    for (int i = MANY_RUNS / 2; i < MANY_RUNS; i++)
        give(runs[i]);
    ink_purge_excess(me);
    assert_true(ink_chunk_dirty_bytes() <= (size_t)12 << 20);
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        if (!ink_chunk_is_whole(chunk))
            assert_int_equal(chunk->zero & chunk->free, 0);
    assert_masks_are_true();
}

/* Where whole chunks are not enough, parts of others go as well. */
static void purge_excess_takes_parts_of_chunks_in_use(void **state)
{
    struct ink_run *runs[MANY_RUNS];

    (void)state;
    ink_store_relaxed(&ink_dirty_regretted, 0);
    ink_store_relaxed(&ink_dirty_peak, 0);
    dirty_all(runs, MANY_RUNS, 8);
    for (int i = 0; i < MANY_RUNS; i++)
        if (i % 4 != 0)
            give(runs[i]);
    ink_purge_excess(me);
    assert_true(ink_chunk_dirty_bytes() <= (size_t)12 << 20);
    assert_masks_are_true();
    for (int i = 0; i < MANY_RUNS; i += 4)
        assert_true(runs[i]->base[0] == 5 && runs[i]->base[ink_run_bytes(runs[i]) - 1] == 5);
}

/* What was purged and is taken again may stay the next time. */
static void take_of_purged_units_lets_more_stay(void **state)
{
    struct ink_run *runs[MANY_RUNS];
    size_t before;

    (void)state;
    ink_store_relaxed(&ink_dirty_regretted, 0);
    ink_store_relaxed(&ink_dirty_peak, 0);
    before = ink_dirty_allowed(0);
    dirty_all(runs, MANY_RUNS / 2, 16);
    assert_int_equal(ink_dirty_allowed(0), before); /* fresh memory is no reason */
    for (int i = 0; i < MANY_RUNS / 2; i++)
        give(runs[i]);
    ink_purge_excess(me);
    assert_true(ink_chunk_dirty_bytes() <= (size_t)12 << 20);
    dirty_all(runs, MANY_RUNS / 2, 16);
    assert_in_range(ink_dirty_allowed(0) - before, (size_t)5 << 20, (size_t)8 << 20);
    for (int i = 0; i < MANY_RUNS / 2; i++)
        give(runs[i]);
    ink_purge_excess(me);
    assert_true(ink_chunk_dirty_bytes() >= (size_t)8 << 20); /* more, unless a second has passed */
    assert_masks_are_true();
}

/* Locked pages cannot be purged: they are tried once, count for nothing until they have been used
 * again, and keep their contents. */
static void purge_excess_of_locked_units_gives_up_once(void **state)
{
    struct ink_run *runs[MANY_RUNS];

    (void)state;
    ink_store_relaxed(&ink_dirty_regretted, 0);
    ink_store_relaxed(&ink_dirty_peak, 0);
    dirty_all(runs, MANY_RUNS, 16);
    for (int i = 0; i < MANY_RUNS; i++)
        if (syscall(SYS_mlock, runs[i]->base, ink_run_bytes(runs[i])) !=
            0) /* TSan's mlock does nothing */
            skip();
    for (int i = 0; i < MANY_RUNS; i++)
        give(runs[i]);
    ink_purge_excess(me);
    assert_true(ink_chunk_dirty_bytes() <= (size_t)12 << 20);
    assert_masks_are_true();
    for (int i = 0; i < MANY_RUNS; i++) {
        runs[i] = take(16, 1);
        assert_false(runs[i]->zeroed);
        assert_masks_are_true();
        (void)syscall(SYS_munlock, runs[i]->base, ink_run_bytes(runs[i]));
    }
}

static void take_after_scribbled_masks(void *arg)
{
    struct ink_run *kept = arg, *run;

    /* As the holder left it who is not in this child: masks and lists half-changed. */
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next) {
        chunk->free = chunk->owned;
        chunk->zero = chunk->owned;
    }
    ink_units.buckets.used = 0;
    run = ink_chunk_take(1, 1, other);
    UNIT_CHECK(run != NULL && !run->zeroed);
    UNIT_CHECK(run->base < kept->base || run->base >= kept->base + ink_run_bytes(kept));
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next) {
        uint32_t used = 0;

        for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
            if (ink_run_state(&chunk->run[i]) != INK_RUN_FREE)
                used |= ink_units_mask(i, chunk->run[i].units);
        UNIT_CHECK(chunk->free == (chunk->owned & ~used));
        UNIT_CHECK((chunk->zero & ~chunk->free) == 0);
    }
    for (int i = 0; i < 100; i++)
        UNIT_CHECK(ink_chunk_take(1 + (unsigned)i % 16, 1, other) != NULL);
    (void)ink_purge_trim(other);
    UNIT_CHECK(ink_chunk_dirty_bytes() == 0);
}

/* In a child that finds the lock held, the masks are made anew from what the runs say, with nothing
 * believed to be zero. */
static void take_in_child_of_locked_parent_repairs_masks(void **state)
{
    struct ink_run *kept = take(7, 1), *given = take(5, 1), *unmerged = take(3, 1);

    (void)state;
    memset(given->base, 6, ink_run_bytes(given));
    give(given);
    assert_int_equal(ink_lock_try(&ink_units.lock, me), INK_LOCK_TAKEN);
    ink_store_release(&unmerged->state, INK_RUN_RETURNED);
    unit_assert_fine(take_after_scribbled_masks, kept);
    ink_lock_release(&ink_units.lock, me);
    ink_chunk_give(unmerged, me);
    give(kept);
}

enum { THREADS = 4, MINE = 12 };

struct worker {
    struct ink_locker me;
    uint64_t seed;
    struct unit_timer timer;
};

static void take_and_give_in_thread(void *arg)
{
    struct worker *worker = arg;
    struct ink_run *held[MINE] = {NULL};

    while (!unit_timer_over(&worker->timer)) {
        unsigned i = unit_random(&worker->seed) % MINE;
        uint32_t dice = unit_random(&worker->seed);
        struct ink_run *run = held[i];

        if (run == NULL) {
            run = ink_chunk_take(1 + dice % 9, 1u << dice / 16 % 3, worker->me);
            UNIT_CHECK(run != NULL);
            UNIT_CHECK(!run->zeroed || unit_is_zero(run->base, 64));
            for (unsigned u = 0; u < run->units; u++)
                memset(run->base + (size_t)u * INK_UNIT_BYTES, (int)worker->me.owner, 64);
        } else {
            for (unsigned u = 0; u < run->units; u++)
                UNIT_CHECK(run->base[(size_t)u * INK_UNIT_BYTES] == (char)worker->me.owner &&
                           run->base[(size_t)u * INK_UNIT_BYTES + 63] == (char)worker->me.owner);
            ink_store_release(&run->state, INK_RUN_RETURNED);
            ink_chunk_give(run, worker->me);
            run = NULL;
        }
        held[i] = run;
        if (dice / 64 % 64 == 0)
            ink_purge_excess(worker->me);
        if (dice / 4096 % 512 == 0)
            (void)ink_purge_trim(worker->me);
    }
    for (int i = 0; i < MINE; i++)
        if (held[i] != NULL) {
            ink_store_release(&held[i]->state, INK_RUN_RETURNED);
            ink_chunk_give(held[i], worker->me);
        }
}

/* Threads that take, give, purge and trim at once never meet in a unit, and in the end all of it
 * can go. */
static void take_give_and_trim_by_many_threads_lose_nothing(void **state)
{
    struct worker workers[THREADS];

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] = (struct worker){{.owner = i + 1, .outermost = true}, i, unit_timer_start(0.5)};
    unit_threads(THREADS, take_and_give_in_thread, workers, sizeof workers[0]);
    (void)ink_purge_trim(me);
    assert_int_equal(mapped_units(), 0);
    assert_masks_are_true();
}

#define TEST(f) cmocka_unit_test_setup(f, give_all_back)

UNIT_MAIN(TEST(take_of_any_units_and_alignment_gives_such_a_run),
          TEST(take_and_give_at_random_never_overlap), TEST(zeroed_holds_for_fresh_units_only),
          TEST(take_fills_a_chunk_before_it_maps_another), TEST(take_prefers_the_fullest_chunk),
          TEST(give_without_lock_is_merged_by_the_next_holder),
          TEST(take_without_lock_maps_just_the_run), TEST(trim_of_free_chunks_unmaps_them),
          TEST(trim_of_chunk_in_use_purges_its_free_units),
          TEST(purge_excess_leaves_what_is_allowed), TEST(purge_lazily_leaves_units_to_the_system),
          TEST(take_of_one_unit_on_a_huge_page_makes_the_others_dirty),
          TEST(purge_excess_takes_whole_chunks_first),
          TEST(purge_excess_takes_parts_of_chunks_in_use),
          TEST(take_of_purged_units_lets_more_stay),
          TEST(purge_excess_of_locked_units_gives_up_once),
          TEST(take_in_child_of_locked_parent_repairs_masks),
          TEST(take_give_and_trim_by_many_threads_lose_nothing))
