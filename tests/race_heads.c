/* Stress of what stands on the versioned heads: nothing is reachable twice, nothing is lost.
 *
 * Each tier of the head in a program of its own.  Between snapshot and commit a thread now and then
 * gives up its processor, which makes windows of nanoseconds as long as a time slice. */
static inline void between(void);
#define INK_BETWEEN() between()
#include "atomiclist.h"
#include "frame.h"
#include "freelist.h"
#include "unit.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { YIELD_EVERY = 512 };

static _Thread_local unsigned commits;

static inline void between(void)
{
    if (++commits % YIELD_EVERY == 0)
        sched_yield();
}

/* ---- stacks: every frame that is popped is claimed ---- */

enum { CLAIMERS = 6, CLAIMED = 12 };

static struct ink_stack shared;
static struct ink_frame *claimed[CLAIMED];
static ink_flag_t claim[CLAIMED];
static struct unit_timer timer;

static unsigned number_of(const struct ink_frame *frame)
{
    return (unsigned)(uintptr_t)ink_load_relaxed(&frame->slot[0]);
}

static void claim_and_put_back(void *arg)
{
    uint64_t seed = *(uint64_t *)arg;
    unsigned long count = 0;

    for (; !unit_timer_over(&timer); count++) {
        bool all = unit_random(&seed) % 16 == 0;
        struct ink_frame *frame = all ? ink_stack_pop_all(&shared) : ink_stack_pop(&shared), *next;

        for (; frame != NULL; frame = next) {
            next = all ? ink_frame_next(frame) : NULL;
            UNIT_CHECK(ink_exchange_acq_rel(&claim[number_of(frame)], 1) == 0);
            between();
            UNIT_CHECK(ink_exchange_acq_rel(&claim[number_of(frame)], 0) == 1);
            ink_stack_push(&shared, frame);
        }
    }
    unit_count_operations(count);
}

static void popped_frames_have_one_holder_and_none_is_lost(void **state)
{
    uint64_t seeds[CLAIMERS] = {1, 2, 3, 4, 5, 6};
    unsigned left = 0;

    (void)state;
    for (unsigned i = 0; i < CLAIMED; i++) {
        claimed[i] = ink_frame_take_empty();
        assert_non_null(claimed[i]);
        ink_store_relaxed(&claimed[i]->slot[0], (void *)(uintptr_t)i);
        ink_stack_push(&shared, claimed[i]);
    }
    timer = unit_timer_start(0.3);
    unit_threads(CLAIMERS, claim_and_put_back, seeds, sizeof seeds[0]);
    assert_int_equal(ink_stack_depth(&shared), CLAIMED);
    for (struct ink_frame *frame; (frame = ink_stack_pop(&shared)) != NULL; left++)
        ink_frame_give_empty(frame);
    assert_int_equal(left, CLAIMED);
}

/* ---- freelists: three batches at a time, filled, compared, given back ---- */

enum { TAKERS = 65, CLASS = 5 };

static struct ink_frame *take_batch(void)
{
    struct ink_frame *batch = ink_freelist_pop(CLASS);

    return batch != NULL ? batch : ink_frame_take_empty();
}

static void fill_batch(struct ink_frame *batch, void *mark)
{
    for (unsigned i = 0; i < 8; i++)
        ink_store_relaxed(&batch->slot[i], mark);
    ink_frame_set_batch(batch, CLASS, 8);
}

static void take_three(void *arg)
{
    unsigned long count = 0;

    for (; !unit_timer_over(&timer); count += 3) {
        struct ink_frame *batch[3];

        for (unsigned i = 0; i < 3; i++)
            batch[i] = take_batch();
        UNIT_CHECK(batch[0] != NULL && batch[1] != NULL && batch[2] != NULL);
        UNIT_CHECK(batch[0] != batch[1] && batch[1] != batch[2] && batch[2] != batch[0]);
        for (unsigned i = 0; i < 3; i++)
            fill_batch(batch[i], (char *)arg + i);
        for (unsigned i = 0; i < 3; i++)
            for (unsigned k = 0; k < 8; k++)
                UNIT_CHECK(ink_load_relaxed(&batch[i]->slot[k]) == (char *)arg + i);
        for (unsigned i = 0; i < 3; i++)
            if (!ink_freelist_push_below(CLASS, batch[i]))
                ink_frame_give_empty(batch[i]);
    }
    unit_count_operations(count);
}

static void three_batches_at_a_time_are_distinct(void **state)
{
    static uint64_t marks[TAKERS];

    (void)state;
    timer = unit_timer_start(0.3);
    unit_threads(TAKERS, take_three, marks, sizeof marks[0]);
    for (struct ink_frame *batch; (batch = ink_freelist_pop(CLASS)) != NULL;)
        ink_frame_give_empty(batch);
}

/* ---- lists: items wander between them ---- */

/* Many items wander far; with few, the same ones come back to the top all the time. */
enum { LISTS_MAX = 10, WANDERERS = 10, ITEMS_MAX = 2000 };

struct item {
    uint64_t first;
    ink_atomiclist_link_t link;
    uint64_t last; /* ~first, unless two threads had it at once */
};

static struct ink_atomiclist list[LISTS_MAX];
static struct item items[WANDERERS][ITEMS_MAX];
static unsigned lists, items_each;

static void touch(struct item *item, uint64_t value)
{
    UNIT_CHECK(item->last == ~item->first);
    item->first = value;
    item->last = ~value;
}

static void move_some(struct item *item, bool all, struct ink_atomiclist *from, uint64_t *seed)
{
    for (struct item *next; item != NULL; item = next) {
        next = all ? ink_atomiclist_next(from, item) : NULL;
        touch(item, *seed);
        (void)ink_atomiclist_push(&list[unit_random(seed) % lists], item);
    }
}

static void wander(void *arg)
{
    struct item *mine = *(struct item **)arg;
    uint64_t seed = (uintptr_t)mine;
    unsigned long count = 0;

    for (unsigned i = 0; i < items_each; i++) {
        touch(&mine[i], i);
        (void)ink_atomiclist_push(&list[i % lists], &mine[i]);
    }
    for (; !unit_timer_over(&timer); count++) {
        struct ink_atomiclist *from = &list[unit_random(&seed) % lists];
        bool all = unit_random(&seed) % 256 == 0;

        move_some(all ? ink_atomiclist_pop_all(from) : ink_atomiclist_pop(from), all, from, &seed);
    }
    unit_count_operations(count);
}

static void let_items_wander(unsigned lists_now, unsigned items_each_now)
{
    struct item *args[WANDERERS];
    unsigned left = 0;

    lists = lists_now;
    items_each = items_each_now;
    for (unsigned i = 0; i < lists; i++)
        ink_atomiclist_init(&list[i], "list", offsetof(struct item, link));
    for (unsigned i = 0; i < WANDERERS; i++) {
        args[i] = items[i];
        for (unsigned k = 0; k < items_each; k++)
            items[i][k] = (struct item){.last = ~(uint64_t)0};
    }
    timer = unit_timer_start(0.2);
    unit_threads(WANDERERS, wander, args, sizeof args[0]);
    for (unsigned i = 0; i < lists; i++)
        for (struct item *item; (item = ink_atomiclist_pop(&list[i])) != NULL; left++)
            UNIT_CHECK(item->last == ~item->first);
    assert_int_equal(left, WANDERERS * items_each);
}

static void items_that_wander_between_lists_are_neither_lost_nor_doubled(void **state)
{
    (void)state;
    let_items_wander(LISTS_MAX, ITEMS_MAX);
    let_items_wander(2, 2);
}

UNIT_MAIN(cmocka_unit_test(popped_frames_have_one_holder_and_none_is_lost),
          cmocka_unit_test(three_batches_at_a_time_are_distinct),
          cmocka_unit_test(items_that_wander_between_lists_are_neither_lost_nor_doubled))
