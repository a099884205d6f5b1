/* Bins: how they grow, where what overflows goes, what is found freed twice, and that nothing is
 * lost or doubled. */
#include "cache.h"
#include "bin.h"
#include "die.h"
#include "freelist.h"
#include "run.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const struct ink_locker me = {.owner = 1, .outermost = true};

static struct ink_thread *thread;
static struct ink_cache *cache;

/* Every test begins with an empty cache and nothing on the lists. */
static int begin(void **state)
{
    bool orphans;

    (void)state;
    thread = ink_thread_acquire(1000, 1, &orphans);
    cache = &thread->c1;
    ink_cache_flush(cache, me);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        ink_freelist_drain(class, me);
    return 0;
}

static struct ink_bin *bin(unsigned class)
{
    return &cache->bin[class];
}

static void *alloc(unsigned class)
{
    void *p = ink_cache_alloc(cache, class, me);

    assert_non_null(p);
    return p;
}

static void give(unsigned class, void *p)
{
    ink_cache_free(cache, class, p, me);
}

/* Items that are out of the runs: in hands, in caches, on lists. */
static size_t items_out(unsigned class)
{
    struct ink_run_sum sums[INK_CLASS_SLOTS] = {{0}};

    ink_run_sum(sums);
    return sums[class].items - sums[class].free_items;
}

/* Items loaded in the bin, from the cursor to the end of the row. */
static unsigned loaded(unsigned class)
{
    ink_slot_t *slot = ink_load_relaxed(&cache->cursor[class]);
    unsigned items = 0;

    while (ink_load_relaxed(&slot[items]) != NULL)
        items++;
    return items;
}

static unsigned spare(unsigned class)
{
    struct ink_frame *frame = ink_load_relaxed(&bin(class)->spare);

    return frame != NULL ? ink_frame_items(frame) : 0;
}

/* What is out is in the program's hands, loaded, spare or listed: in hands is what the test
 * says. */
static void assert_conserved(unsigned class, size_t in_hands)
{
    assert_int_equal(items_out(class),
                     in_hands + loaded(class) + spare(class) + ink_freelist_items(class));
}

/* Items of a class in a test's hands, all distinct as each is marked with its number. */
struct hand {
    unsigned class;
    size_t count;
    void *item[20000];
};

static struct hand hand;

static void take_up(struct hand *h, size_t count)
{
    while (h->count < count) {
        h->item[h->count] = alloc(h->class);
        memcpy(h->item[h->count], &h->count, sizeof h->count);
        h->count++;
    }
}

static void assert_own(struct hand *h)
{
    for (size_t i = 0; i < h->count; i++)
        assert_memory_equal(h->item[i], &i, sizeof i);
}

static void lay_down(struct hand *h, size_t count)
{
    assert_own(h);
    while (h->count > count)
        give(h->class, h->item[--h->count]);
}

/* A young bin takes 4 items from the runs, then 8, and so on, up to a full-grown batch. */
static void alloc_in_young_bin_doubles_what_it_takes(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        unsigned most = ink_size_classes[class].batch_items, expected = most < 4 ? most : 4;

        hand = (struct hand){.class = class};
        while (expected < most) {
            size_t before = items_out(class);

            assert_false(bin(class)->grown);
            take_up(&hand, hand.count + 1);
            /* A run may end before the bin is full. */
            assert_in_range(items_out(class) - before, 1, expected);
            if (items_out(class) - before < expected)
                break;
            take_up(&hand, hand.count + expected - 1);
            assert_int_equal(items_out(class), before + expected);
            expected = 2 * expected < most ? 2 * expected : most;
            assert_int_equal(bin(class)->capacity, expected);
            assert_conserved(class, hand.count);
        }
        take_up(&hand, hand.count + 2 * most);
        assert_true(bin(class)->grown);
        assert_int_equal(bin(class)->capacity, most);
        lay_down(&hand, 0);
        assert_conserved(class, 0);
    }
}

/* Many items of each class: all distinct, all come back, and with the cache flushed and the lists
 * drained all are in the runs. */
static void alloc_and_free_of_every_class_conserve_items(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        size_t most = ink_size_classes[class].size > 2048 ? 300 : 5000;

        hand = (struct hand){.class = class};
        take_up(&hand, most);
        assert_conserved(class, most);
        lay_down(&hand, most / 3);
        assert_conserved(class, most / 3);
        take_up(&hand, most);
        assert_conserved(class, most);
        lay_down(&hand, 0);
        assert_conserved(class, 0);
        ink_cache_flush(cache, me);
        assert_int_equal(loaded(class) + spare(class), 0);
        assert_conserved(class, 0);
        ink_freelist_drain(class, me);
        assert_int_equal(items_out(class), 0);
    }
}

/* A bin that nobody touches while others take from the runs gives back what it has, and begins
 * small again. */
static void unused_bin_gives_back_while_others_grow(void **state)
{
    unsigned idle = ink_class_for(200), busy = ink_class_for(1024);

    (void)state;
    hand = (struct hand){.class = idle};
    take_up(&hand, 1000);
    lay_down(&hand, 0);
    assert_in_range(loaded(idle) + spare(idle), 20, 2 * INK_FRAME_ITEMS_MAX);
    hand = (struct hand){.class = busy};
    take_up(&hand, sizeof hand.item / sizeof hand.item[0]);
    lay_down(&hand, 0);
    take_up(&hand, sizeof hand.item / sizeof hand.item[0]);
    lay_down(&hand, 0);
    assert_int_equal(loaded(idle) + spare(idle), 0);
    assert_int_equal(bin(idle)->capacity, 0);
    ink_freelist_drain(idle, me);
    assert_int_equal(items_out(idle), 0);
}

/* One that is used keeps it. */
static void used_bin_keeps_what_it_has_while_others_grow(void **state)
{
    unsigned used = ink_class_for(200), busy = ink_class_for(64);
    void *p[20];

    (void)state;
    hand = (struct hand){.class = used};
    take_up(&hand, 1000);
    lay_down(&hand, 0);
    hand = (struct hand){.class = busy};
    for (int i = 0; i < 10000; i++) {
        take_up(&hand, hand.count + 2);
        if (i % 100 == 0) /* the cursor stands elsewhere each time that it is looked at */
            for (int k = 0; k < 1 + i / 100 % 2 * 10; k++)
                p[k] = alloc(used);
        if (i % 100 == 50)
            for (int k = 0; k < 1 + i / 100 % 2 * 10; k++)
                give(used, p[k]);
    }
    assert_true(bin(used)->grown);
    lay_down(&hand, 0);
}

/* With many threads, bins take less. */
static void bins_of_many_threads_are_small(void **state)
{
    enum { THREADS = 256 };
    static struct ink_thread *threads[THREADS];
    unsigned class = ink_class_for(64);
    bool orphans;

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        threads[i] = ink_thread_acquire(5000 + i, 1, &orphans);
    hand = (struct hand){.class = class};
    take_up(&hand, 1000);
    assert_true(bin(class)->grown);
    assert_in_range(bin(class)->capacity, 2, 63 / 4);
    for (unsigned i = 0; i < THREADS; i++)
        ink_thread_release(threads[i]);
    lay_down(&hand, 0);
    assert_conserved(class, 0);
}

/* What is freed last is handed out first, while it is in the bin. */
static void alloc_after_free_gives_the_last_freed(void **state)
{
    unsigned class = ink_class_for(64);
    void *p[3] = {alloc(class), alloc(class), alloc(class)};

    (void)state;
    for (int i = 0; i < 3; i++)
        give(class, p[i]);
    for (int i = 3; i-- > 0;)
        assert_ptr_equal(alloc(class), p[i]);
    for (int i = 0; i < 3; i++)
        give(class, p[i]);
}

/* A thread that only frees begins with a frame of its own. */
static void free_into_fresh_bin_starts_a_frame(void **state)
{
    unsigned class = ink_class_for(64);
    void *p = alloc(class);

    (void)state;
    ink_cache_flush(cache, me);
    assert_ptr_equal(ink_load_relaxed(&cache->cursor[class]), INK_NO_CURSOR);
    give(class, p);
    assert_int_equal(loaded(class), 1);
    assert_int_equal(bin(class)->capacity, 4);
    assert_conserved(class, 0);
    assert_ptr_equal(alloc(class), p);
    give(class, p);
}

/* A bin of class that is grown and full, with hand.count items in hand and nothing listed. */
static void make_full_bin(unsigned class)
{
    unsigned most = ink_size_classes[class].batch_items;

    hand = (struct hand){.class = class};
    take_up(&hand, 1000);
    assert_true(bin(class)->grown);
    ink_cache_flush(cache, me);
    ink_freelist_drain(class, me);
    /* Grown again by frees alone, through capacities 4, 8, 16, 32, 63. */
    lay_down(&hand, 600);
    ink_cache_drain_spares(cache, me);
    ink_freelist_drain(class, me);
    assert_int_equal(bin(class)->capacity, most);
    while (loaded(class) < most)
        lay_down(&hand, hand.count - 1);
    assert_int_equal(spare(class), 0);
    assert_int_equal(ink_freelist_depth(class), 0);
}

/* Takes until a batch has been loaded, and gives back until the bin is full again. */
static void refill_and_fill(unsigned class)
{
    unsigned most = ink_size_classes[class].batch_items;

    take_up(&hand, hand.count + most + 1);
    while (loaded(class) < most)
        lay_down(&hand, hand.count - 1);
}

/* The full frame of a bin that was refilled becomes its spare, and goes to the shared list with the
 * next one. */
static void free_into_full_refilled_bin_makes_spare(void **state)
{
    unsigned class = ink_class_for(256), most = ink_size_classes[class].batch_items;

    (void)state;
    make_full_bin(class);
    refill_and_fill(class);
    lay_down(&hand, hand.count - 1);
    assert_int_equal(loaded(class), 1);
    assert_int_equal(spare(class), most);
    assert_int_equal(ink_freelist_depth(class), 0);

    /* And back: the loaded one, the spare. */
    take_up(&hand, hand.count + 2);
    assert_int_equal(spare(class), 0);
    assert_int_equal(loaded(class), most - 1);
    assert_conserved(class, hand.count);
    lay_down(&hand, 0);
}

/* A bin that only takes blocks back keeps one frame: spare and full frame go to the list. */
static void free_into_full_bin_without_refill_keeps_no_spare(void **state)
{
    unsigned class = ink_class_for(256), most = ink_size_classes[class].batch_items;

    (void)state;
    make_full_bin(class);
    refill_and_fill(class);
    lay_down(&hand, hand.count - 1);
    assert_int_equal(spare(class), most);
    for (unsigned i = 1; i <= 3; i++) {
        lay_down(&hand, hand.count - most);
        assert_int_equal(loaded(class), 1);
        assert_int_equal(spare(class), 0);
        assert_int_equal(ink_freelist_depth(class), i + 1);
        assert_conserved(class, hand.count);
    }
    lay_down(&hand, 0);
}

/* A batch from the shared list loaded into a bin that was never used: frees beyond its room
 * overflow like any others. */
static void free_into_bin_that_began_with_listed_batch_overflows(void **state)
{
    static const size_t sizes[] = {16, 64, 1024, 4096, 32768};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned class = ink_class_for(sizes[i]);

        hand = (struct hand){.class = class};
        take_up(&hand, 1500);
        lay_down(&hand, 500);
        ink_cache_flush(cache, me);
        assert_true(ink_freelist_depth(class) > 0);
        assert_int_equal(bin(class)->capacity, 0);
        take_up(&hand, 501);
        assert_conserved(class, 501);
        lay_down(&hand, 0);
        assert_conserved(class, 0);
        take_up(&hand, 200);
        lay_down(&hand, 0);
        assert_conserved(class, 0);
    }
}

/* A short batch is loaded so that the bin has room for frees beneath it. */
static void load_of_short_batch_leaves_room_for_frees(void **state)
{
    unsigned class = ink_class_for(64), most = ink_size_classes[class].batch_items;
    struct ink_frame *batch;

    (void)state;
    hand = (struct hand){.class = class};
    take_up(&hand, 500);
    assert_true(bin(class)->grown);
    while (loaded(class) != 0)
        take_up(&hand, hand.count + 1);
    batch = ink_frame_take_empty();
    assert_int_equal(ink_run_refill(class, batch, 3, me), 3);
    ink_freelist_push(class, batch, me);
    take_up(&hand, hand.count + 1);
    assert_int_equal(loaded(class), 2);
    assert_conserved(class, hand.count);
    lay_down(&hand, hand.count - (most - 2));
    assert_int_equal(loaded(class), most);
    assert_int_equal(spare(class), 0);
    assert_conserved(class, hand.count);
    lay_down(&hand, 0);
    assert_conserved(class, 0);
}

/* A flush leaves nothing in the cache: batches are listed, the rest is in the runs, empty frames
 * are in the pool. */
static void flush_empties_every_bin(void **state)
{
    static struct hand hands[INK_CLASS_COUNT];

    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        hands[class] = (struct hand){.class = class};
        take_up(&hands[class], 150);
        lay_down(&hands[class], 10);
        assert_true(loaded(class) > 0 || spare(class) > 0);
    }
    ink_cache_flush(cache, me);
    assert_int_equal(ink_load_relaxed(&cache->empties), 0);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        assert_ptr_equal(ink_load_relaxed(&cache->cursor[class]), INK_NO_CURSOR);
        assert_null(ink_load_relaxed(&bin(class)->spare));
        assert_int_equal(bin(class)->capacity, 0);
        assert_false(bin(class)->grown);
        assert_conserved(class, 10);
    }
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        lay_down(&hands[class], 0);
}

/* Spares can be taken from any cache, and their items are in the runs then. */
static void drain_spares_sends_them_to_the_runs(void **state)
{
    unsigned class = ink_class_for(128);

    (void)state;
    hand = (struct hand){.class = class};
    take_up(&hand, 500);
    while (spare(class) == 0)
        lay_down(&hand, hand.count - 1);
    ink_freelist_drain(class, me);
    ink_cache_drain_spares(cache, me);
    assert_int_equal(spare(class), 0);
    assert_int_equal(ink_freelist_items(class), 0);
    assert_conserved(class, hand.count);
    lay_down(&hand, 0);
}

/* More empty frames than a cache keeps at hand go to the pool; none is lost, none is kept twice. */
static void keep_empty_beyond_its_room_pools_frames(void **state)
{
    struct ink_frame *frames[INK_CACHE_EMPTIES + 4];
    size_t segments;

    (void)state;
    for (int i = 0; i < INK_CACHE_EMPTIES + 4; i++)
        frames[i] = ink_frame_take_empty();
    segments = ink_frame_segments();
    for (int i = 0; i < INK_CACHE_EMPTIES + 4; i++)
        ink_cache_keep_empty(cache, frames[i]);
    assert_int_equal(ink_load_relaxed(&cache->empties), INK_CACHE_EMPTIES);
    for (int i = 0; i < INK_CACHE_EMPTIES + 4; i++) {
        frames[i] = ink_cache_take_empty(cache);
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(frames[i], frames[j]);
    }
    assert_int_equal(ink_load_relaxed(&cache->empties), 0);
    assert_int_equal(ink_frame_segments(), segments);
    for (int i = 0; i < INK_CACHE_EMPTIES + 4; i++)
        ink_frame_give_empty(frames[i]);
}

/* Without a cache items come from and go to the shared lists, one by one; batches fill up on the
 * way. */
static void single_items_of_every_class_are_conserved(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        unsigned most = ink_size_classes[class].batch_items;

        hand = (struct hand){.class = class};
        for (; hand.count < 200; hand.count++) {
            hand.item[hand.count] = ink_cache_alloc_single(class, me);
            assert_non_null(hand.item[hand.count]);
            memcpy(hand.item[hand.count], &hand.count, sizeof hand.count);
        }
        assert_conserved(class, 200);
        assert_own(&hand);
        while (hand.count > 0) {
            ink_cache_free_single(class, hand.item[--hand.count], me);
            assert_conserved(class, hand.count);
        }
        assert_true(ink_freelist_depth(class) <= 200 / most + 2);
        ink_freelist_drain(class, me);
        assert_int_equal(items_out(class), 0);
    }
}

/* ---- freed twice ---- */

struct twice {
    unsigned class;
    void *p;
};

static void free_in_child(void *arg)
{
    struct twice *twice = arg;

    ink_cache_free(cache, twice->class, twice->p, me);
}

static void assert_free_dies(unsigned class, void *p, const char *fault)
{
    struct twice twice = {class, p};

    unit_assert_misuse(free_in_child, &twice, fault, "free", p);
}

/* The item freed last is caught at once, in a bin of any age. */
static void free_of_last_freed_item_dies(void **state)
{
    unsigned class = ink_class_for(64);

    (void)state;
    hand = (struct hand){.class = class};
    take_up(&hand, 2);
    give(class, hand.item[1]);
    assert_free_dies(class, hand.item[1], INK_FAULT_DOUBLE);
    give(class, hand.item[0]);
    hand.count = 0;
    take_up(&hand, 300);
    assert_true(bin(class)->grown);
    give(class, hand.item[299]);
    assert_free_dies(class, hand.item[299], INK_FAULT_DOUBLE);
    hand.count = 299;
    lay_down(&hand, 0);
}

/* An item that stands anywhere in a full young bin, or in its spare, is caught by the free that
 * overflows it. */
static void free_of_item_in_full_young_bin_dies(void **state)
{
    unsigned class = ink_class_for(64);

    (void)state;
    hand = (struct hand){.class = class};
    take_up(&hand, 30);
    ink_cache_flush(cache, me);
    ink_freelist_drain(class, me);
    for (int i = 0; i < 4; i++)
        give(class, hand.item[i]);
    assert_int_equal(loaded(class), 4);
    for (int i = 0; i < 4; i++)
        assert_free_dies(class, hand.item[i], INK_FAULT_DOUBLE);
    for (int i = 4; i < 8; i++)
        give(class, hand.item[i]);
    assert_int_equal(spare(class), 4);
    assert_int_equal(loaded(class), 4);
    for (int i = 4; i < 8; i++)
        assert_free_dies(class, hand.item[i], INK_FAULT_DOUBLE);
    for (size_t i = 8; i < 30; i++)
        give(class, hand.item[i]);
    assert_conserved(class, 0);
}

static void fill_with_spared_item(void *arg)
{
    struct twice *twice = arg;

    /* One freed twice, among others, with the first of it in the spare. */
    ink_cache_free(cache, twice->class, hand.item[5], me);
    ink_cache_free(cache, twice->class, twice->p, me);
    ink_cache_free(cache, twice->class, hand.item[6], me);
}

static void fill_with_item_twice(void *arg)
{
    struct twice *twice = arg;

    ink_cache_free(cache, twice->class, hand.item[0], me);
    ink_cache_free(cache, twice->class, twice->p, me);
    ink_cache_free(cache, twice->class, hand.item[1], me);
    ink_cache_free(cache, twice->class, twice->p, me);
    ink_cache_free(cache, twice->class, hand.item[2], me);
}

/* Two of one item in a full young bin are found by the next free, whatever that frees. */
static void free_of_another_item_into_young_bin_with_one_twice_dies(void **state)
{
    unsigned class = ink_class_for(64);
    struct twice twice = {.class = class};

    (void)state;
    hand = (struct hand){.class = class};
    take_up(&hand, 4);
    ink_cache_flush(cache, me);
    ink_freelist_drain(class, me);
    twice.p = hand.item[3];
    unit_assert_misuse(fill_with_item_twice, &twice, INK_FAULT_DOUBLE, "free", twice.p);
    lay_down(&hand, 0);
}

/* So is one of which the first stands in the spare and the second in the bin. */
static void free_of_item_in_spare_of_young_bin_dies(void **state)
{
    unsigned class = ink_class_for(64);
    struct twice twice = {.class = class};

    (void)state;
    hand = (struct hand){.class = class};
    take_up(&hand, 10);
    ink_cache_flush(cache, me);
    ink_freelist_drain(class, me);
    for (int i = 0; i < 5; i++)
        give(class, hand.item[i]);
    assert_int_equal(spare(class), 4);
    assert_int_equal(loaded(class), 1);
    give(class, hand.item[8]);
    for (int i = 0; i < 4; i++) {
        twice.p = hand.item[i];
        unit_assert_misuse(fill_with_spared_item, &twice, INK_FAULT_DOUBLE, "free", twice.p);
    }
    for (size_t i = 5; i < 10; i++)
        if (i != 8)
            give(class, hand.item[i]);
    assert_conserved(class, 0);
}

/* A pointer into an item, or an item whose bit says free, is caught when a young bin overflows. */
static void free_of_no_item_into_full_young_bin_dies(void **state)
{
    unsigned class = ink_class_for(96);
    char *drained;

    (void)state;
    hand = (struct hand){.class = class};
    take_up(&hand, 10);
    ink_cache_flush(cache, me);
    ink_freelist_drain(class, me);
    drained = hand.item[9];
    give(class, drained);
    ink_cache_flush(cache, me);
    for (int i = 0; i < 4; i++)
        give(class, hand.item[i]);
    assert_free_dies(class, (char *)hand.item[5] + 16, INK_FAULT_INTERIOR);
    assert_free_dies(class, drained, INK_FAULT_DOUBLE);
    for (size_t i = 4; i < 9; i++)
        give(class, hand.item[i]);
    assert_conserved(class, 0);
}

static void free_twice_and_flush(void *arg)
{
    struct twice *twice = arg;

    ink_cache_free(cache, twice->class, hand.item[0], me);
    ink_cache_free(cache, twice->class, hand.item[1], me);
    ink_cache_free(cache, twice->class, hand.item[0], me);
    ink_cache_flush(cache, me);
    for (unsigned i = 0; i < 3; i++)
        ink_freelist_drain(twice->class, me);
}

/* In a grown bin a second free is caught at the latest when the batch drains. */
static void free_of_item_in_grown_bin_dies_at_the_drain(void **state)
{
    unsigned class = ink_class_for(64);
    struct twice twice = {.class = class};

    (void)state;
    hand = (struct hand){.class = class};
    take_up(&hand, 400);
    assert_true(bin(class)->grown);
    twice.p = hand.item[0];
    unit_assert_misuse(free_twice_and_flush, &twice, INK_FAULT_DOUBLE, "free", twice.p);
    lay_down(&hand, 0);
}

#define TEST(f) cmocka_unit_test_setup(f, begin)

UNIT_MAIN(TEST(alloc_in_young_bin_doubles_what_it_takes),
          TEST(alloc_and_free_of_every_class_conserve_items),
          TEST(unused_bin_gives_back_while_others_grow),
          TEST(used_bin_keeps_what_it_has_while_others_grow), TEST(bins_of_many_threads_are_small),
          TEST(alloc_after_free_gives_the_last_freed), TEST(free_into_fresh_bin_starts_a_frame),
          TEST(free_into_full_refilled_bin_makes_spare),
          TEST(free_into_full_bin_without_refill_keeps_no_spare),
          TEST(free_into_bin_that_began_with_listed_batch_overflows),
          TEST(load_of_short_batch_leaves_room_for_frees), TEST(flush_empties_every_bin),
          TEST(drain_spares_sends_them_to_the_runs), TEST(keep_empty_beyond_its_room_pools_frames),
          TEST(single_items_of_every_class_are_conserved), TEST(free_of_last_freed_item_dies),
          TEST(free_of_item_in_full_young_bin_dies),
          TEST(free_of_another_item_into_young_bin_with_one_twice_dies),
          TEST(free_of_item_in_spare_of_young_bin_dies),
          TEST(free_of_no_item_into_full_young_bin_dies),
          TEST(free_of_item_in_grown_bin_dies_at_the_drain))
