/* The shared freelists: what they hold, how much, and where the rest goes. */
#include "freelist.h"
#include "run.h"
#include "run_bytes.h"
#include "run_shard.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const struct ink_locker me = {.owner = 1, .outermost = true};
static const struct ink_locker other = {.owner = 2, .outermost = true};

static unsigned class_of(size_t bytes)
{
    return ink_class_for_aligned(bytes, 1);
}

static struct ink_frame *batch_of(unsigned class, unsigned wanted)
{
    struct ink_frame *frame = ink_frame_take_empty();

    assert_non_null(frame);
    assert_in_range(ink_run_refill(class, frame, wanted, me), 1, wanted);
    return frame;
}

static size_t items_out(unsigned class)
{
    struct ink_run_sum sums[INK_CLASS_SLOTS] = {{0}};

    ink_run_sum(sums);
    return sums[class].items - sums[class].free_items;
}

/* An empty list gives nothing and holds nothing. */
static void pop_of_empty_list_gives_null(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        assert_null(ink_freelist_pop(class));
        assert_int_equal(ink_freelist_depth(class), 0);
        assert_int_equal(ink_freelist_items(class), 0);
        ink_freelist_drain(class, me);
    }
}

/* Each class has a list of its own; a batch comes back as it was given, the last one first. */
static void pop_gives_batches_of_the_class_last_first(void **state)
{
    struct ink_frame *batch[INK_CLASS_COUNT][2];
    void *first[INK_CLASS_COUNT];

    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        for (int i = 0; i < 2; i++) {
            batch[class][i] = batch_of(class, 2);
            first[class] = ink_load_relaxed(&batch[class][i]->slot[0]);
            assert_true(ink_freelist_push_below(class, batch[class][i]));
        }
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        assert_int_equal(ink_freelist_depth(class), 2);
        assert_ptr_equal(ink_freelist_pop(class), batch[class][1]);
        assert_ptr_equal(ink_load_relaxed(&batch[class][1]->slot[0]), first[class]);
        assert_int_equal(ink_frame_kind(batch[class][1]), INK_FRAME_BATCH);
        assert_int_equal(ink_frame_class(batch[class][1]), class);
        ink_freelist_push(class, batch[class][1], me);
        ink_freelist_drain(class, me);
        assert_int_equal(ink_freelist_depth(class), 0);
        assert_int_equal(items_out(class), 0);
    }
}

/* Items are counted over batches of any length. */
static void items_of_batches_of_any_length_are_counted(void **state)
{
    unsigned class = class_of(48), expected = 0;

    (void)state;
    for (unsigned i = 1; i <= 15; i++) {
        struct ink_frame *batch = batch_of(class, i);

        expected += ink_frame_items(batch);
        ink_freelist_push(class, batch, me);
        assert_int_equal(ink_freelist_items(class), expected);
        assert_int_equal(ink_freelist_depth(class), i);
    }
    assert_int_equal(items_out(class), expected);
    ink_freelist_drain(class, me);
    assert_int_equal(ink_freelist_items(class), 0);
    assert_int_equal(items_out(class), 0);
}

static size_t weight_of_batch(unsigned class)
{
    size_t size = ink_size_classes[class].size;

    return (size > 4096 ? size : 4096) * ink_size_classes[class].batch_items;
}

/* Pushes batches until one is drained; the list's depth. */
static unsigned fill_list(unsigned class)
{
    struct ink_frame *emptied = NULL;

    while (emptied == NULL)
        emptied = ink_freelist_push_or_drain(
            class, batch_of(class, ink_size_classes[class].batch_items), me);
    ink_frame_give_empty(emptied);
    return ink_freelist_depth(class);
}

/* Runs of the class enough that its list could pin whatever it may; give_heap_back frees them. */
enum { HEAP = 1100 };

static struct ink_frame *heap[HEAP];

static void make_heap(unsigned class, size_t bytes)
{
    for (size_t n = 0; n < HEAP; n++)
        heap[n] = n * weight_of_batch(class) / 64 < bytes / 64 && ink_run_class_bytes(class) < bytes
                      ? batch_of(class, ink_size_classes[class].batch_items)
                      : NULL;
}

static void give_heap_back(unsigned class)
{
    for (size_t n = 0; n < HEAP; n++)
        if (heap[n] != NULL)
            ink_freelist_push(class, heap[n], me);
    ink_freelist_drain(class, me);
    assert_int_equal(items_out(class), 0);
}

/* One list alone may pin 4 MiB, a page at least for each item, and no more than its runs hold. */
static void list_of_one_class_pins_four_mib(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        make_heap(class, (size_t)5 << 20);
        (void)fill_list(class);
        assert_true(ink_freelists_pinned() <= ((size_t)4 << 20) + 4 * weight_of_batch(class));
        give_heap_back(class);
        assert_int_equal(items_out(class), 0);
    }
    assert_int_equal(ink_freelists_pinned(), 0);
}

/* All of them together may pin no more, but for two batches that each may always hold. */
static void lists_of_all_classes_together_pin_four_mib(void **state)
{
    unsigned first = class_of(4096);
    size_t more = 4 * weight_of_batch(first);

    (void)state;
    make_heap(first, (size_t)5 << 20);
    (void)fill_list(first);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        if (class != first)
            (void)fill_list(class);
        more += 6 * weight_of_batch(class);
    }
    assert_true(ink_freelists_pinned() <= ((size_t)4 << 20) + more);
    give_heap_back(first);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        ink_freelist_drain(class, me);
    assert_int_equal(ink_freelists_pinned(), 0);
}

/* Where much is out, an eighth of it. */
static void lists_may_pin_an_eighth_of_what_is_out(void **state)
{
    unsigned class = class_of(32768);

    (void)state;
    make_heap(class, (size_t)64 << 20);
    (void)fill_list(class);
    assert_in_range(ink_freelists_pinned(), (size_t)7 << 20, (size_t)10 << 20);
    give_heap_back(class);
}

/* What the lists have no room for goes down to its runs, and its frame is at hand again. */
static void push_above_bound_drains_the_batch(void **state)
{
    unsigned class = class_of(1024), bound = fill_list(class);
    size_t listed = ink_freelist_items(class);

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct ink_frame *batch = batch_of(class, 32);

        assert_false(ink_freelist_push_below(class, batch));
        assert_int_equal(ink_frame_kind(batch), INK_FRAME_BATCH);
        assert_ptr_equal(ink_freelist_push_or_drain(class, batch, me), batch);
        assert_int_equal(ink_frame_kind(batch), INK_FRAME_IDLE);
        ink_frame_give_empty(batch);
        assert_int_equal(ink_freelist_depth(class), bound);
        assert_int_equal(ink_freelist_items(class), listed);
        assert_int_equal(items_out(class), listed);
    }
    ink_freelist_push(class, batch_of(class, 32), me);
    assert_int_equal(ink_freelist_depth(class), bound);
    assert_int_equal(items_out(class), listed);
    ink_freelist_drain(class, me);
    assert_int_equal(ink_freelist_depth(class), 0);
    assert_int_equal(items_out(class), 0);
}

/* A batch of two items of one shard and two of another. */
static struct ink_frame *batch_of_two_shards(unsigned class)
{
    struct ink_run_class *all = &ink_run_classes[class];
    struct ink_frame *batch, *second;

    batch = batch_of(class, 4);
    ink_store_relaxed(&all->current, 1);
    assert_int_equal(ink_lock_try(&all->shard[0].lock, other), INK_LOCK_TAKEN);
    second = batch_of(class, 4);
    ink_lock_release(&all->shard[0].lock, other);
    ink_store_relaxed(&all->current, 0);
    for (unsigned i = 2; i < 4; i++) {
        ink_slot_t *slot = &batch->slot[i], *from = &second->slot[i];
        void *p = ink_load_relaxed(slot);

        assert_int_not_equal(ink_run_find(p)->shard, ink_run_find(ink_load_relaxed(from))->shard);
        ink_store_relaxed(slot, ink_load_relaxed(from));
        ink_store_relaxed(from, p);
    }
    ink_freelist_push(class, second, me);
    return batch;
}

/* Above the bound no lock is waited for: what cannot go down at once stays a batch, on the list. */
static void push_above_bound_without_lock_keeps_the_rest_listed(void **state)
{
    unsigned class = class_of(2048);
    struct ink_frame *batch = batch_of_two_shards(class);
    unsigned bound = fill_list(class);
    struct ink_lock *lock = &ink_run_classes[class].shard[1].lock;
    void *rest[2] = {ink_load_relaxed(&batch->slot[2]), ink_load_relaxed(&batch->slot[3])};
    size_t listed, out;

    (void)state;
    listed = ink_freelist_items(class);
    out = items_out(class);
    assert_int_equal(ink_lock_try(lock, other), INK_LOCK_TAKEN);
    assert_null(ink_freelist_push_or_drain(class, batch, me));
    ink_lock_release(lock, other);

    assert_int_equal(items_out(class), out - 2);
    assert_int_equal(ink_freelist_items(class), listed + 2);
    assert_int_equal(ink_freelist_depth(class), bound + 1);
    assert_ptr_equal(ink_freelist_pop(class), batch);
    assert_int_equal(ink_frame_kind(batch), INK_FRAME_BATCH);
    assert_int_equal(ink_frame_items(batch), 2);
    assert_ptr_equal(ink_load_relaxed(&batch->slot[0]), rest[0]);
    assert_ptr_equal(ink_load_relaxed(&batch->slot[1]), rest[1]);
    assert_null(ink_load_relaxed(&batch->slot[2]));
    ink_freelist_push(class, batch, me);
    ink_freelist_drain(class, me);
    assert_int_equal(items_out(class), 0);
}

enum { THREADS = 4 };

struct worker {
    struct ink_locker me;
    uint64_t seed;
    struct unit_timer timer;
};

/* Takes a batch from the list or the runs, marks all its items as its own, looks again, and passes
 * it on. */
static void pass_batches(void *arg)
{
    struct worker *worker = arg;
    unsigned class = class_of(512);
    char *p;

    while (!unit_timer_over(&worker->timer)) {
        struct ink_frame *batch = ink_freelist_pop(class);

        if (batch == NULL || unit_random(&worker->seed) % 8 == 0) {
            struct ink_frame *more = ink_frame_take_empty();

            UNIT_CHECK(
                more != NULL &&
                ink_run_refill(class, more, 1 + unit_random(&worker->seed) % 63, worker->me) != 0);
            if (batch != NULL)
                ink_freelist_push(class, batch, worker->me);
            batch = more;
        }
        UNIT_CHECK(ink_frame_kind(batch) == INK_FRAME_BATCH && ink_frame_class(batch) == class);
        for (unsigned i = 0; (p = ink_load_relaxed(&batch->slot[i])) != NULL; i++)
            memset(p, (int)worker->me.owner, 512);
        for (unsigned i = 0; (p = ink_load_relaxed(&batch->slot[i])) != NULL; i++)
            UNIT_CHECK(p[0] == (char)worker->me.owner && p[511] == (char)worker->me.owner);
        if (unit_random(&worker->seed) % 512 == 0)
            ink_freelist_drain(class, worker->me);
        ink_freelist_push(class, batch, worker->me);
    }
}

/* Batches that change hands between threads and runs stay whole: no item is in two of them, none is
 * lost. */
static void pushes_and_pops_by_many_threads_keep_every_item_once(void **state)
{
    struct worker workers[THREADS];
    unsigned class = class_of(512);

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] = (struct worker){{.owner = i + 1, .outermost = true}, i, unit_timer_start(0.5)};
    unit_threads(THREADS, pass_batches, workers, sizeof workers[0]);
    assert_int_equal(items_out(class), ink_freelist_items(class));
    ink_freelist_drain(class, me);
    assert_int_equal(ink_freelist_depth(class), 0);
    assert_int_equal(items_out(class), 0);
}

UNIT_MAIN(cmocka_unit_test(pop_of_empty_list_gives_null),
          cmocka_unit_test(pop_gives_batches_of_the_class_last_first),
          cmocka_unit_test(items_of_batches_of_any_length_are_counted),
          cmocka_unit_test(list_of_one_class_pins_four_mib),
          cmocka_unit_test(lists_of_all_classes_together_pin_four_mib),
          cmocka_unit_test(lists_may_pin_an_eighth_of_what_is_out),
          cmocka_unit_test(push_above_bound_drains_the_batch),
          cmocka_unit_test(push_above_bound_without_lock_keeps_the_rest_listed),
          cmocka_unit_test(pushes_and_pops_by_many_threads_keep_every_item_once))
