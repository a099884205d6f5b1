/* ABA, deterministically: every removal is stopped between its snapshot and its commit, and other
 * operations that bring the same item back to the top are put there.  The commit must fail, and the
 * retry must leave nothing lost and nothing twice.
 *
 * Each tier of the head in a program of its own; lists stand on the wide head, with the locked tier
 * on the locked one. */
static void between(void);
#define INK_BETWEEN() between()
#include "atomiclist.h"
#include "freelist.h"
#include "unit.h"

/* What happens in the gap, once; and how many gaps there were. */
static void (*in_the_gap)(void);
static unsigned gaps;

static void between(void)
{
    void (*action)(void) = in_the_gap;

    gaps++;
    in_the_gap = NULL;
    if (action != NULL)
        action();
}

/* The operation has met its gap. */
static int gap_was_met(void **state)
{
    (void)state;
    return in_the_gap == NULL ? 0 : -1;
}

#define TEST(f) cmocka_unit_test_teardown(f, gap_was_met)

/* ---- stacks of frames, and the freelists that are made of them ---- */

enum { FRAMES = 4 };

static struct ink_stack stack;
static struct ink_frame *frame[FRAMES];

static void fill(unsigned count)
{
    while (ink_stack_pop(&stack) != NULL)
        continue;
    for (unsigned i = 0; i < FRAMES; i++) {
        frame[i] = frame[i] != NULL ? frame[i] : ink_frame_take_empty();
        assert_non_null(frame[i]);
        if (i < count)
            ink_stack_push(&stack, frame[i]);
    }
}

static void assert_stack_is(struct ink_frame *first, struct ink_frame *second)
{
    assert_int_equal(ink_stack_depth(&stack), (first != NULL) + (second != NULL));
    assert_ptr_equal(ink_stack_pop(&stack), first);
    if (first != NULL)
        assert_ptr_equal(ink_stack_pop(&stack), second);
    assert_null(ink_stack_pop(&stack));
}

/* 2 1 0 becomes 2 0: the top is the same, its link is not. */
static void take_two_put_back_the_first(void)
{
    struct ink_frame *top = ink_stack_pop(&stack);

    assert_ptr_equal(ink_stack_pop(&stack), frame[1]);
    ink_stack_push(&stack, top);
}

/* The pop that was stopped must not put 1, which is somebody else's now, on top. */
static void stack_pop_does_not_believe_old_link(void **state)
{
    (void)state;
    fill(3);
    in_the_gap = take_two_put_back_the_first;
    assert_ptr_equal(ink_stack_pop(&stack), frame[2]);
    assert_stack_is(frame[0], NULL);
}

static void take_all_put_back_the_first(void)
{
    struct ink_frame *top = ink_stack_pop_all(&stack);

    assert_ptr_equal(ink_frame_next(top), frame[1]);
    ink_stack_push(&stack, top);
}

/* A popall in the gap advances the version too. */
static void stack_pop_notices_pop_all(void **state)
{
    (void)state;
    fill(3);
    in_the_gap = take_all_put_back_the_first;
    assert_ptr_equal(ink_stack_pop(&stack), frame[2]);
    assert_stack_is(NULL, NULL);
}

static void take_one_put_two_back(void)
{
    struct ink_frame *top = ink_stack_pop(&stack);

    ink_stack_push(&stack, frame[3]);
    ink_stack_push(&stack, top);
}

/* A popall that was stopped takes what is there at its commit, the newcomer as well. */
static void stack_pop_all_does_not_leave_newcomer(void **state)
{
    struct ink_frame *chain;

    (void)state;
    fill(1);
    in_the_gap = take_one_put_two_back;
    gaps = 0;
    chain = ink_stack_pop_all(&stack);
    assert_int_equal(
        gaps, 5); /* twice its own: the first commit failed; and those of the three in between */
    assert_ptr_equal(chain, frame[0]);
    assert_ptr_equal(ink_frame_next(chain), frame[3]);
    assert_null(ink_frame_next(ink_frame_next(chain)));
    assert_stack_is(NULL, NULL);
}

/* 1 0 becomes 1 alone: the top is the same, and less deep. */
static void take_two_put_back_the_upper(void)
{
    struct ink_frame *top = ink_stack_pop(&stack);

    assert_ptr_equal(ink_stack_pop(&stack), frame[0]);
    ink_stack_push(&stack, top);
}

/* A push that was stopped must not keep the depth it derived from the old top. */
static void stack_push_keeps_depth_when_top_comes_back_higher(void **state)
{
    (void)state;
    fill(2);
    in_the_gap = take_two_put_back_the_upper;
    ink_stack_push(&stack, frame[2]);
    assert_stack_is(frame[2], frame[1]);
}

/* ---- batches ---- */

enum { CLASS = 3 };

static void batch_take_two_put_back_the_first(void)
{
    struct ink_frame *top = ink_freelist_pop(CLASS);

    assert_ptr_equal(ink_freelist_pop(CLASS), frame[1]);
    ink_stack_push(&ink_freelists[CLASS].stack, top);
}

static void batch_pop_does_not_believe_old_link(void **state)
{
    (void)state;
    fill(0);
    for (unsigned i = 0; i < 3; i++) {
        ink_store_relaxed(&frame[i]->slot[0], &frame[i]);
        ink_frame_set_batch(frame[i], CLASS, 1);
        ink_stack_push(&ink_freelists[CLASS].stack, frame[i]);
    }
    in_the_gap = batch_take_two_put_back_the_first;
    assert_ptr_equal(ink_freelist_pop(CLASS), frame[2]);
    assert_int_equal(ink_freelist_depth(CLASS), 1);
    assert_int_equal(ink_freelist_items(CLASS), 1);
    assert_ptr_equal(ink_freelist_pop(CLASS), frame[0]);
    assert_null(ink_freelist_pop(CLASS));
}

/* ---- lists ---- */

struct thing {
    ink_atomiclist_link_t link;
};

static struct ink_atomiclist list;
static struct thing thing[4];

static void fill_list(unsigned count)
{
    ink_atomiclist_init(&list, "things", offsetof(struct thing, link));
    for (unsigned i = 0; i < count; i++)
        (void)ink_atomiclist_push(&list, &thing[i]);
}

static void list_take_two_put_back_the_first(void)
{
    void *top = ink_atomiclist_pop(&list);

    assert_ptr_equal(ink_atomiclist_pop(&list), &thing[1]);
    (void)ink_atomiclist_push(&list, top);
}

static void list_pop_does_not_believe_old_link(void **state)
{
    (void)state;
    fill_list(3);
    in_the_gap = list_take_two_put_back_the_first;
    assert_ptr_equal(ink_atomiclist_pop(&list), &thing[2]);
    assert_ptr_equal(ink_atomiclist_pop(&list), &thing[0]);
    assert_null(ink_atomiclist_pop(&list));
}

static void list_take_all_put_back_the_first(void)
{
    void *top = ink_atomiclist_pop_all(&list);

    (void)ink_atomiclist_push(&list, top);
}

static void list_pop_notices_pop_all(void **state)
{
    (void)state;
    fill_list(3);
    in_the_gap = list_take_all_put_back_the_first;
    assert_ptr_equal(ink_atomiclist_pop(&list), &thing[2]);
    assert_null(ink_atomiclist_pop(&list));
}

static void list_remove_two_put_back_the_first(void)
{
    assert_ptr_equal(ink_atomiclist_remove(&list, &thing[1]), &thing[1]);
    assert_ptr_equal(ink_atomiclist_remove(&list, &thing[2]), &thing[2]);
    (void)ink_atomiclist_push(&list, &thing[2]);
}

/* A remove of the top advances the version. */
static void list_pop_notices_remove(void **state)
{
    (void)state;
    fill_list(3);
    in_the_gap = list_remove_two_put_back_the_first;
    assert_ptr_equal(ink_atomiclist_pop(&list), &thing[2]);
    assert_ptr_equal(ink_atomiclist_pop(&list), &thing[0]);
    assert_null(ink_atomiclist_pop(&list));
}

static void list_take_one_put_two_back(void)
{
    void *top = ink_atomiclist_pop(&list);

    (void)ink_atomiclist_push(&list, &thing[3]);
    (void)ink_atomiclist_push(&list, top);
}

static void list_pop_all_does_not_leave_newcomer(void **state)
{
    (void)state;
    fill_list(1);
    in_the_gap = list_take_one_put_two_back;
    gaps = 0;
    assert_ptr_equal(ink_atomiclist_pop_all(&list), &thing[0]);
    assert_int_equal(gaps, 5); /* see above */
    assert_ptr_equal(ink_atomiclist_next(&list, &thing[0]), &thing[3]);
    assert_null(ink_atomiclist_next(&list, &thing[3]));
    assert_true(ink_atomiclist_empty(&list));
}

static void list_push_another(void)
{
    (void)ink_atomiclist_push(&list, &thing[3]);
}

/* A remove of the top that is stopped while another thread pushes finds its item below the top. */
static void list_remove_finds_item_that_sank(void **state)
{
    (void)state;
    fill_list(2);
    in_the_gap = list_push_another;
    assert_ptr_equal(ink_atomiclist_remove(&list, &thing[1]), &thing[1]);
    assert_ptr_equal(ink_atomiclist_pop(&list), &thing[3]);
    assert_ptr_equal(ink_atomiclist_pop(&list), &thing[0]);
    assert_null(ink_atomiclist_pop(&list));
}

/* A remove that is stopped while its item leaves and comes back above another one. */
static void list_remove_does_not_believe_old_link(void **state)
{
    (void)state;
    fill_list(3);
    in_the_gap = list_take_two_put_back_the_first;
    assert_ptr_equal(ink_atomiclist_remove(&list, &thing[2]), &thing[2]);
    assert_ptr_equal(ink_atomiclist_pop(&list), &thing[0]);
    assert_null(ink_atomiclist_pop(&list));
}

UNIT_MAIN(TEST(stack_pop_does_not_believe_old_link), TEST(stack_pop_notices_pop_all),
          TEST(stack_pop_all_does_not_leave_newcomer),
          TEST(stack_push_keeps_depth_when_top_comes_back_higher),
          TEST(batch_pop_does_not_believe_old_link), TEST(list_pop_does_not_believe_old_link),
          TEST(list_pop_notices_pop_all), TEST(list_pop_notices_remove),
          TEST(list_pop_all_does_not_leave_newcomer), TEST(list_remove_finds_item_that_sank),
          TEST(list_remove_does_not_believe_old_link))
