/* Runs: items that go out once and come back once, what is found wrong with them, and what becomes
 * of empty runs.
 *
 * The source of the shards stands in place of the library's object: tests hold class locks and look
 * at buckets. */
#include "die.h"
#include "run.h"
#include "run_shard.c"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const struct ink_locker me = {.owner = 1, .outermost = true};
static const struct ink_locker other = {.owner = 2, .outermost = true};
static const struct ink_locker me_inside = {.owner = 1, .outermost = false};

static unsigned class_of(size_t bytes)
{
    return ink_class_for_aligned(bytes, 1);
}

static struct ink_frame *refill(unsigned class, unsigned wanted)
{
    struct ink_frame *frame = ink_frame_take_empty();

    assert_non_null(frame);
    assert_in_range(ink_run_refill(class, frame, wanted, me), 1, wanted);
    return frame;
}

static void drain(unsigned class, struct ink_frame *frame)
{
    ink_slot_t *end = ink_run_drain(class, frame->slot, true, me);

    assert_null(ink_load_relaxed(end));
    ink_frame_give_empty(frame);
}

static char *item(struct ink_frame *frame, unsigned i)
{
    return ink_load_relaxed(&frame->slot[i]);
}

static struct ink_run_sum sum_of(unsigned class)
{
    struct ink_run_sum sums[INK_CLASS_SLOTS] = {{0}};

    ink_run_sum(sums);
    return sums[class];
}

/* The run that p, an item, is in. */
static __attribute__((noinline)) struct ink_run *run_of(const void *p)
{
    struct ink_run *run = ink_run_find(p);

    assert_non_null(run);
    return run;
}

static size_t items_out(unsigned class)
{
    struct ink_run_sum sum = sum_of(class);

    return sum.items - sum.free_items;
}

/* A refill of any class gives distinct items of its runs, no more than wanted, in a batch that says
 * so. */
static void refill_of_every_class_gives_distinct_items_of_it(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        size_t size = ink_size_classes[class].size, before = items_out(class);
        struct ink_frame *frame = refill(class, ink_size_classes[class].batch_items);
        unsigned items = ink_frame_items(frame);

        assert_int_equal(ink_frame_kind(frame), INK_FRAME_BATCH);
        assert_int_equal(ink_frame_class(frame), class);
        assert_null(item(frame, items));
        assert_int_equal(items_out(class), before + items);
        for (unsigned i = 0; i < items; i++) {
            struct ink_run *run = run_of(item(frame, i));

            assert_int_equal(ink_window_class(item(frame, i)), class);
            assert_int_equal(ink_run_state(run), INK_RUN_CLASS);
            assert_null(ink_run_fault(run, class, item(frame, i)));
            assert_false(ink_run_item_is_free(run, item(frame, i)));
            assert_int_equal((uintptr_t)(item(frame, i) - run->base) % size, 0);
            assert_true(item(frame, i) + size <= run->base + ink_run_bytes(run));
            assert_int_equal((uintptr_t)item(frame, i) % INK_ALIGNMENT, 0);
            memset(item(frame, i), (int)i + 1, size);
        }
        for (unsigned i = 0; i < items; i++) {
            assert_int_equal(item(frame, i)[0], i + 1);
            assert_int_equal(item(frame, i)[size - 1], i + 1);
        }
        drain(class, frame);
        assert_int_equal(items_out(class), before);
    }
}

/* A run is handed out to its last item, each once; what does not fit any more comes from another
 * run. */
static void refill_hands_out_every_item_of_a_run_once(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        unsigned run_items = ink_size_classes[class].run_items, got = 0, frames = 0;
        struct ink_frame **all = malloc((run_items + 1) * sizeof *all);
        unsigned char *seen = calloc(run_items, 1);
        struct ink_run *run = NULL;

        assert_true(all != NULL && seen != NULL);
        ink_run_trim(me);
        assert_int_equal(sum_of(class).runs, 0);
        while (got < run_items) {
            struct ink_frame *frame = refill(class, run_items - got < 63 ? run_items - got : 63);

            for (unsigned i = 0; i < ink_frame_items(frame); i++) {
                if (run == NULL)
                    run = run_of(item(frame, 0));
                assert_ptr_equal(run_of(item(frame, i)), run);
                assert_int_equal(seen[(size_t)(item(frame, i) - run->base) / run->size]++, 0);
            }
            got += ink_frame_items(frame);
            all[frames++] = frame;
        }
        assert_int_equal(sum_of(class).runs, 1);
        assert_int_equal(sum_of(class).free_items, 0);
        all[frames++] = refill(class, 1);
        assert_ptr_not_equal(run_of(item(all[frames - 1], 0)), run);
        assert_int_equal(sum_of(class).runs, 2);
        while (frames-- > 0)
            drain(class, all[frames]);
        free(all);
        free(seen);
    }
}

/* A refill goes on in the next run when the first has too few, and hands out neighbours from the
 * lowest address on. */
static void refill_over_two_runs_takes_what_each_has(void **state)
{
    unsigned class = ink_class_for_aligned(4096, 4096),
             run_items = ink_size_classes[class].run_items;
    struct ink_frame *first = refill(class, run_items - 2), *second, *third;

    (void)state;
    for (unsigned i = 1; i < run_items - 2; i++)
        assert_ptr_equal(item(first, i), item(first, i - 1) + 4096);
    /* A second run, also with two items left. */
    second = refill(class, 2);
    third = refill(class, run_items - 2);
    assert_int_equal(sum_of(class).runs, 2);
    drain(class, second);
    assert_int_equal(sum_of(class).free_items, 4);
    second = refill(class, 4);
    assert_int_equal(ink_frame_items(second), 4);
    assert_ptr_not_equal(run_of(item(second, 0)), run_of(item(second, 3)));
    assert_int_equal(sum_of(class).free_items, 0);
    drain(class, first);
    drain(class, second);
    drain(class, third);
}

/* Of two runs the fuller one is used up first, so that the other can become empty. */
static void refill_prefers_the_fuller_run(void **state)
{
    unsigned class = ink_class_for_aligned(1024, 1024),
             run_items = ink_size_classes[class].run_items;
    struct ink_frame *first = refill(class, run_items - 1), *last = refill(class, 1),
                     *next = refill(class, 32), *more;
    struct ink_run *full = run_of(item(first, 0)), *half = run_of(item(next, 0));

    (void)state;
    assert_int_equal(run_items, 64);
    assert_ptr_equal(run_of(item(last, 0)), full);
    assert_ptr_not_equal(full, half);
    drain(class, last);
    more = refill(class, 1);
    assert_ptr_equal(run_of(item(more, 0)), full);
    drain(class, first);
    drain(class, more);
    more = refill(class, 1);
    assert_ptr_equal(run_of(item(more, 0)), half);
    drain(class, more);
    drain(class, next);
}

/* What a drain has put back can be handed out again, all of it, without another run. */
static void drain_makes_items_available_again(void **state)
{
    enum { FRAMES = 20 };
    struct ink_frame *frames[FRAMES];
    unsigned class = class_of(64);
    size_t runs;

    (void)state;
    for (int i = 0; i < FRAMES; i++)
        frames[i] = refill(class, 63);
    runs = sum_of(class).runs;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FRAMES; i += 2)
            drain(class, frames[i]);
        for (int i = 0; i < FRAMES; i += 2)
            frames[i] = refill(class, 63);
        assert_int_equal(sum_of(class).runs, runs);
        assert_int_equal(items_out(class), FRAMES * 63);
    }
    for (int i = 0; i < FRAMES; i++)
        drain(class, frames[i]);
    assert_int_equal(items_out(class), 0);
}

/* A drained row is empty; a row that begins in the middle of a frame is drained from there. */
static void drain_empties_just_the_row(void **state)
{
    unsigned class = class_of(200);
    struct ink_frame *frame = refill(class, 10);
    char *first = item(frame, 0), *third = item(frame, 2);
    ink_slot_t *end = ink_run_drain(class, &frame->slot[3], true, me);

    (void)state;
    assert_ptr_equal(end, &frame->slot[10]);
    for (unsigned i = 3; i <= 10; i++)
        assert_null(item(frame, i));
    assert_ptr_equal(item(frame, 0), first);
    assert_ptr_equal(item(frame, 2), third);
    assert_int_equal(items_out(class), 3);
    assert_ptr_equal(ink_run_drain(class, frame->slot, true, me), &frame->slot[3]);
    assert_int_equal(items_out(class), 0);
    /* An empty row is no work. */
    assert_ptr_equal(ink_run_drain(class, frame->slot, true, me), &frame->slot[0]);
    ink_frame_give_empty(frame);
}

/* Runs that become wholly free go back to their chunks, but for one that a class keeps at hand; a
 * trim takes that, too. */
static void drain_to_emptiness_gives_runs_back(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        enum { FRAMES = 400 };
        struct ink_frame *frames[FRAMES];
        struct ink_run *run;
        char *first;
        int count = 0;

        while (sum_of(class).runs < 4 && count < FRAMES)
            frames[count++] = refill(class, 63);
        first = item(frames[0], 0);
        run = run_of(first);
        while (count-- > 0)
            drain(class, frames[count]);
        assert_true(sum_of(class).runs <= 1);
        assert_int_equal(sum_of(class).free_items, sum_of(class).items);
        ink_run_trim(me);
        assert_int_equal(sum_of(class).runs, 0);
        assert_int_equal(ink_run_state(run), INK_RUN_FREE);
        assert_int_equal(ink_window_class(first), 0);
    }
}

/* A unit serves one class after the other, with bitmaps of any length. */
static void run_of_reused_unit_has_the_new_class(void **state)
{
    static const unsigned sizes[] = {16, 32768, 48, 112, 16, 4096, 128, 32};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned class = class_of(sizes[i]);
        struct ink_frame *frame = refill(class, 2);
        struct ink_run *run = run_of(item(frame, 0));

        assert_int_equal(run->size, sizes[i]);
        assert_int_equal(sum_of(class).free_items, ink_size_classes[class].run_items - 2u);
        assert_int_equal(ink_window_class(item(frame, 1)), class);
        drain(class, frame);
        ink_run_trim(me);
    }
}

/* A lock that cannot be had: without waiting a drain leaves the rest as it is, and a later one
 * finishes it. */
static void drain_without_lock_leaves_the_row(void **state)
{
    unsigned class = class_of(64);
    struct ink_frame *frame = refill(class, 5);
    struct ink_run *run = run_of(item(frame, 0));
    struct ink_lock *lock = &ink_run_classes[class].shard[run->shard].lock;
    char *first = item(frame, 0);

    (void)state;
    assert_int_equal(ink_lock_try(lock, other), INK_LOCK_TAKEN);
    assert_ptr_equal(ink_run_drain(class, frame->slot, false, me), frame->slot);
    assert_ptr_equal(ink_run_drain(class, frame->slot, true, me), frame->slot);
    assert_ptr_equal(item(frame, 0), first);
    assert_int_equal(items_out(class), 5);
    ink_lock_release(lock, other);
    assert_null(ink_load_relaxed(ink_run_drain(class, frame->slot, false, me)));
    assert_int_equal(items_out(class), 0);
    ink_frame_give_empty(frame);
}

/* A class whose lock is held for long is served from another shard, and goes on there; items go
 * home to the shard they are from. */
static void refill_without_lock_goes_on_in_another_shard(void **state)
{
    unsigned class = class_of(320);
    struct ink_frame *before = refill(class, 3), *during, *after;
    struct ink_run_class *all = &ink_run_classes[class];
    unsigned old = run_of(item(before, 0))->shard;

    (void)state;
    assert_int_equal(ink_lock_try(&all->shard[old].lock, other), INK_LOCK_TAKEN);
    during = refill(class, 3);
    assert_int_not_equal(run_of(item(during, 0))->shard, old);
    assert_int_equal(ink_load_relaxed(&all->current), run_of(item(during, 0))->shard);
    ink_lock_release(&all->shard[old].lock, other);

    after = refill(class, 3);
    assert_ptr_equal(run_of(item(after, 0)), run_of(item(during, 0)));
    /* A row of both shards. */
    ink_store_relaxed(&before->slot[3], item(after, 0));
    ink_store_relaxed(&before->slot[4], NULL);
    ink_store_relaxed(&after->slot[0], item(after, 2));
    ink_store_relaxed(&after->slot[2], NULL);
    drain(class, before);
    assert_int_equal(items_out(class), 5);
    drain(class, during);
    drain(class, after);
    assert_int_equal(items_out(class), 0);
    ink_store_relaxed(&all->current, (uint8_t)old);
}

/* Held by what lies interrupted beneath, the lock is as good as ever for others: the class stays
 * where it is. */
static void refill_with_lock_beneath_does_not_move_the_class(void **state)
{
    unsigned class = class_of(320);
    struct ink_run_class *all = &ink_run_classes[class];
    unsigned current = ink_load_relaxed(&all->current);
    struct ink_frame *frame = ink_frame_take_empty();

    (void)state;
    assert_int_equal(ink_lock_try(&all->shard[current].lock, me), INK_LOCK_TAKEN);
    assert_in_range(ink_run_refill(class, frame, 3, me_inside), 1, 3);
    assert_int_not_equal(run_of(item(frame, 0))->shard, current);
    assert_int_equal(ink_load_relaxed(&all->current), current);
    ink_lock_release(&all->shard[current].lock, me);
    drain(class, frame);
}

/* With no shard to be had at all there is still memory: a run of one's own, which the others learn
 * of later. */
static void refill_without_any_lock_takes_a_fresh_run(void **state)
{
    unsigned class = class_of(640);
    struct ink_run_class *all = &ink_run_classes[class];
    struct ink_frame *frame;

    (void)state;
    for (int i = 0; i < INK_RUN_SHARDS; i++)
        assert_int_equal(ink_lock_try(&all->shard[i].lock, other), INK_LOCK_TAKEN);
    frame = refill(class, 7);
    for (int i = 0; i < INK_RUN_SHARDS; i++)
        ink_lock_release(&all->shard[i].lock, other);
    assert_int_equal(ink_frame_items(frame), 7);
    assert_int_equal(items_out(class), 7);
    drain(class, frame);
    frame = refill(class, 7);
    assert_int_equal(sum_of(class).runs, 1);
    drain(class, frame);
}

/* ---- what is wrong with a pointer ---- */

struct misuse {
    unsigned class;
    struct ink_frame *frame;
};

static void drain_in_child(void *arg)
{
    struct misuse *misuse = arg;

    (void)ink_run_drain(misuse->class, misuse->frame->slot, true, me);
}

static void assert_drain_dies(unsigned class, struct ink_frame *frame, const char *fault,
                              const void *pointer)
{
    struct misuse misuse = {class, frame};

    unit_assert_misuse(drain_in_child, &misuse, fault, "free", pointer);
}

/* A pointer into an item is told from the item itself, in every class and at either end of it. */
static void drain_of_interior_pointer_dies(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class += 3) {
        struct ink_frame *frame = refill(class, 3);
        unsigned last = ink_frame_items(frame) - 1;
        char *p = item(frame, last);
        size_t size = ink_size_classes[class].size;

        for (size_t offset = 1; offset < size; offset = offset == 1 && size > 2 ? size - 1 : size) {
            ink_store_relaxed(&frame->slot[last], p + offset);
            assert_drain_dies(class, frame, INK_FAULT_INTERIOR, p + offset);
        }
        ink_store_relaxed(&frame->slot[last], p);
        drain(class, frame);
    }
}

/* What is left of a run behind its last item is no item. */
static void drain_of_pointer_behind_last_item_dies(void **state)
{
    unsigned class = class_of(48);
    struct ink_frame *frame = refill(class, 1);
    char *p = item(frame, 0);
    struct ink_run *run = run_of(p);
    char *behind = run->base + (size_t)run->items * run->size;

    (void)state;
    assert_true(behind < run->base + ink_run_bytes(run));
    ink_store_relaxed(&frame->slot[0], behind);
    assert_drain_dies(class, frame, INK_FAULT_INTERIOR, behind);
    ink_store_relaxed(&frame->slot[0], p);
    drain(class, frame);
}

/* An item that stands in a row twice was freed twice. */
static void drain_of_item_twice_in_a_row_dies(void **state)
{
    unsigned class = class_of(64);
    struct ink_frame *frame = refill(class, 4);
    char *kept = item(frame, 3);

    (void)state;
    ink_store_relaxed(&frame->slot[3], item(frame, 1));
    assert_drain_dies(class, frame, INK_FAULT_DOUBLE, item(frame, 1));
    ink_store_relaxed(&frame->slot[3], kept);
    drain(class, frame);
}

/* So was one that has been drained before. */
static void drain_of_drained_item_dies(void **state)
{
    unsigned class = class_of(64);
    struct ink_frame *frame = refill(class, 4), *again = ink_frame_take_empty();
    char *p = item(frame, 3);

    (void)state;
    ink_store_relaxed(&again->slot[0], p);
    ink_store_relaxed(&again->slot[1], NULL);
    ink_store_relaxed(&frame->slot[3], NULL);
    assert_null(ink_load_relaxed(ink_run_drain(class, again->slot, true, me)));
    ink_store_relaxed(&again->slot[0], p);
    assert_drain_dies(class, again, INK_FAULT_DOUBLE, p);
    ink_frame_give_empty(again);
    drain(class, frame);
}

/* Also when its run has gone back meanwhile, and when the unit serves another class by now. */
static void drain_of_item_of_vanished_run_dies(void **state)
{
    unsigned class = class_of(64), next = class_of(80);
    struct ink_frame *frame = refill(class, 1), *other_class;
    char *p = item(frame, 0);

    (void)state;
    assert_null(ink_load_relaxed(ink_run_drain(class, frame->slot, true, me)));
    ink_run_trim(me);
    ink_store_relaxed(&frame->slot[0], p);
    ink_store_relaxed(&frame->slot[1], NULL);
    assert_drain_dies(class, frame, INK_FAULT_DOUBLE, p);
    other_class = refill(next, 2);
    assert_ptr_equal(run_of(p), run_of(item(other_class, 0)));
    assert_drain_dies(class, frame, INK_FAULT_DOUBLE, p);
    ink_frame_give_empty(frame);
    drain(next, other_class);
}

/* What was never ours is called foreign. */
static void drain_of_foreign_pointer_dies(void **state)
{
    struct ink_frame *frame = ink_frame_take_empty();
    static _Alignas(16) char mine[16];

    (void)state;
    ink_store_relaxed(&frame->slot[0], mine);
    ink_store_relaxed(&frame->slot[1], NULL);
    assert_drain_dies(class_of(64), frame, INK_FAULT_FOREIGN, mine);
    ink_frame_give_empty(frame);
}

/* ---- fork ---- */

static void use_scribbled_class(void *arg)
{
    unsigned class = *(unsigned *)arg;
    struct ink_frame *frame = ink_frame_take_empty();
    struct ink_run_shard *shard = &ink_run_classes[class].shard[0];
    size_t out = items_out(class), free_items = sum_of(class).free_items;

    /* As the holder left it who is not in this child. */
    shard->buckets.used = 0;
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
            chunk->run[i].free = 4711;
    UNIT_CHECK(free_items >= 63);
    UNIT_CHECK(ink_run_refill(class, frame, 63, other) == 63);
    UNIT_CHECK(items_out(class) == out + 63);
    UNIT_CHECK(ink_load_relaxed(ink_run_drain(class, frame->slot, true, other)) == NULL);
    UNIT_CHECK(items_out(class) == out);
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        for (unsigned i = 0; i < INK_CHUNK_UNITS; i++) {
            struct ink_run *run = &chunk->run[i];
            unsigned bits = 0;

            if (ink_run_state(run) != INK_RUN_CLASS || run->class != class)
                continue;
            for (unsigned w = 0; w < ink_run_words(run); w++)
                bits += (unsigned)__builtin_popcountll(ink_load_relaxed(&run->words[w]));
            UNIT_CHECK(run->free == bits && run->bucket == ink_run_bucket(run));
        }
}

/* In a child that finds a class locked, counts and lists are made anew from the bitmaps. */
static void refill_in_child_of_locked_parent_repairs_counts(void **state)
{
    enum { FRAMES = 60 };
    unsigned class = class_of(112);
    struct ink_frame *frames[FRAMES];
    struct ink_lock *lock = &ink_run_classes[class].shard[0].lock;

    (void)state;
    for (int i = 0; i < FRAMES; i++)
        frames[i] = refill(class, 63);
    for (int i = 0; i < FRAMES; i += 2)
        drain(class, frames[i]);
    assert_int_equal(ink_load_relaxed(&ink_run_classes[class].current), 0);
    assert_int_equal(ink_lock_try(lock, me), INK_LOCK_TAKEN);
    unit_assert_fine(use_scribbled_class, &class);
    ink_lock_release(lock, me);
    for (int i = 1; i < FRAMES; i += 2)
        drain(class, frames[i]);
}

/* ---- threads ---- */

enum { THREADS = 4, HELD = 12 };

struct worker {
    struct ink_locker me;
    uint64_t seed;
    struct unit_timer timer;
};

static const unsigned stress_sizes[] = {16, 64, 1024, 8192, 32768};

static struct ink_frame *refill_in_thread(struct worker *worker, unsigned class)
{
    struct ink_frame *frame = ink_frame_take_empty();
    void *p;

    UNIT_CHECK(frame != NULL);
    UNIT_CHECK(ink_run_refill(class, frame, 1 + unit_random(&worker->seed) % 63, worker->me) != 0);
    for (unsigned i = 0; (p = ink_load_relaxed(&frame->slot[i])) != NULL; i++)
        memset(p, (int)worker->me.owner, 16);
    return frame;
}

static void drain_in_thread(struct worker *worker, unsigned class, struct ink_frame *frame)
{
    ink_slot_t *slot = frame->slot;
    char *p;

    for (unsigned i = 0; (p = ink_load_relaxed(&frame->slot[i])) != NULL; i++)
        UNIT_CHECK(p[0] == (char)worker->me.owner && p[15] == (char)worker->me.owner);
    /* A lock that is not to be had for some milliseconds leaves the rest of the row. */
    while (ink_load_relaxed(slot) != NULL)
        slot = ink_run_drain(class, slot, unit_random(&worker->seed) % 2 != 0, worker->me);
    ink_frame_give_empty(frame);
}

static void refill_and_drain(void *arg)
{
    struct worker *worker = arg;
    struct ink_frame *held[HELD] = {NULL};
    unsigned class[HELD] = {0};

    while (!unit_timer_over(&worker->timer)) {
        unsigned i = unit_random(&worker->seed) % HELD;

        if (held[i] == NULL) {
            class[i] = class_of(stress_sizes[unit_random(&worker->seed) % 5]);
            held[i] = refill_in_thread(worker, class[i]);
        } else {
            drain_in_thread(worker, class[i], held[i]);
            held[i] = NULL;
        }
        if (unit_random(&worker->seed) % 256 == 0)
            ink_run_trim(worker->me);
    }
    for (unsigned i = 0; i < HELD; i++)
        if (held[i] != NULL)
            drain_in_thread(worker, class[i], held[i]);
}

/* Threads that refill, drain and trim at once never hold the same item, and in the end all are
 * back. */
static void refill_and_drain_by_many_threads_keep_every_item_once(void **state)
{
    struct worker workers[THREADS];

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] = (struct worker){{.owner = i + 1, .outermost = true}, i, unit_timer_start(0.5)};
    unit_threads(THREADS, refill_and_drain, workers, sizeof workers[0]);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        assert_int_equal(items_out(class), 0);
    ink_run_trim(me);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        assert_int_equal(sum_of(class).runs, 0);
}

UNIT_MAIN(cmocka_unit_test(refill_of_every_class_gives_distinct_items_of_it),
          cmocka_unit_test(refill_hands_out_every_item_of_a_run_once),
          cmocka_unit_test(refill_over_two_runs_takes_what_each_has),
          cmocka_unit_test(refill_prefers_the_fuller_run),
          cmocka_unit_test(drain_makes_items_available_again),
          cmocka_unit_test(drain_empties_just_the_row),
          cmocka_unit_test(drain_to_emptiness_gives_runs_back),
          cmocka_unit_test(run_of_reused_unit_has_the_new_class),
          cmocka_unit_test(drain_without_lock_leaves_the_row),
          cmocka_unit_test(refill_without_lock_goes_on_in_another_shard),
          cmocka_unit_test(refill_with_lock_beneath_does_not_move_the_class),
          cmocka_unit_test(refill_without_any_lock_takes_a_fresh_run),
          cmocka_unit_test(drain_of_interior_pointer_dies),
          cmocka_unit_test(drain_of_pointer_behind_last_item_dies),
          cmocka_unit_test(drain_of_item_twice_in_a_row_dies),
          cmocka_unit_test(drain_of_drained_item_dies),
          cmocka_unit_test(drain_of_item_of_vanished_run_dies),
          cmocka_unit_test(drain_of_foreign_pointer_dies),
          cmocka_unit_test(refill_in_child_of_locked_parent_repairs_counts),
          cmocka_unit_test(refill_and_drain_by_many_threads_keep_every_item_once))
