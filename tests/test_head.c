/* The versioned head, each tier in a program of its own: removal is refused to whoever looked
 * before another removal. */
#include "head.h"
#include "unit.h"

#include <sched.h>

/* Links of a small stack of nodes 1 .. 7, as its users keep them. */
static ink_head_link_t links[8];

static void push(struct ink_head *head, ink_head_link_t node)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(head);

    do
        links[node] = ink_head_top(snapshot);
    while (!ink_head_commit_push(head, &snapshot, node));
}

static ink_head_link_t pop(struct ink_head *head)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(head);

    do
        if (ink_head_top(snapshot) == 0)
            return 0;
    while (!ink_head_commit_pop(head, &snapshot, links[ink_head_top(snapshot)]));
    return ink_head_top(snapshot);
}

static ink_head_link_t pop_all(struct ink_head *head)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(head);

    while (!ink_head_commit_pop(head, &snapshot, 0))
        continue;
    return ink_head_top(snapshot);
}

/* A head of zero bytes is empty. */
static void snapshot_of_zeroed_head_is_empty(void **state)
{
    struct ink_head head = {0};

    (void)state;
    assert_int_equal(ink_head_top(ink_head_snapshot(&head)), 0);
    assert_int_equal(pop(&head), 0);
}

/* What was pushed last is popped first. */
static void pop_after_pushes_gives_last_first(void **state)
{
    struct ink_head head = {0};

    (void)state;
    for (uint32_t i = 1; i <= 7; i++)
        push(&head, i);
    for (uint32_t i = 7; i >= 1; i--)
        assert_int_equal(pop(&head), i);
    assert_int_equal(pop(&head), 0);
}

/* The whole range of a link comes back as it went in, and a version beside it. */
static void push_of_any_link_keeps_it_whole(void **state)
{
    static const uint64_t links_at_the_ends[] = {
        1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, (uint64_t)1 << 63, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof links_at_the_ends / sizeof links_at_the_ends[0]; i++) {
        struct ink_head head = {0};
        ink_head_link_t link = (ink_head_link_t)links_at_the_ends[i];
        ink_head_snapshot_t snapshot = ink_head_snapshot(&head);

        if (link != links_at_the_ends[i])
            continue; /* links of this tier are narrower */
        assert_true(ink_head_commit_push(&head, &snapshot, link));
        assert_true(ink_head_top(ink_head_snapshot(&head)) == link);
        snapshot = ink_head_snapshot(&head);
        assert_true(ink_head_commit_pop(&head, &snapshot, link - 1));
        assert_true(ink_head_top(ink_head_snapshot(&head)) == link - 1);
        assert_int_equal(ink_head_version(ink_head_snapshot(&head)), 1);
    }
}

/* A popper that was late must not take the top by a link of yesterday, though the same index is on
 * top again. */
static void pop_with_stale_snapshot_fails_though_top_is_same_again(void **state)
{
    struct ink_head head = {0};
    ink_head_snapshot_t stale;
    ink_head_link_t next;

    (void)state;
    push(&head, 1);
    push(&head, 2);
    stale = ink_head_snapshot(&head);
    next = links[ink_head_top(stale)];
    assert_int_equal(next, 1);

    assert_int_equal(pop(&head), 2);
    assert_int_equal(pop(&head), 1);
    push(&head, 2);

    assert_int_equal(ink_head_top(ink_head_snapshot(&head)), ink_head_top(stale));
    assert_false(ink_head_commit_pop(&head, &stale, next));
    assert_int_equal(pop(&head), 2);
    assert_int_equal(pop(&head), 0);
}

/* The same when everything was taken at once and the old top was put back. */
static void pop_with_snapshot_from_before_popall_fails_though_top_is_same_again(void **state)
{
    struct ink_head head = {0};
    ink_head_snapshot_t stale;

    (void)state;
    push(&head, 1);
    push(&head, 2);
    stale = ink_head_snapshot(&head);

    assert_int_equal(pop_all(&head), 2);
    push(&head, 2);

    assert_false(ink_head_commit_pop(&head, &stale, 1));
    assert_int_equal(pop(&head), 2);
    assert_int_equal(pop(&head), 0);
}

/* A late popall must not take a list that it has not seen. */
static void popall_with_stale_snapshot_fails_though_top_is_same_again(void **state)
{
    struct ink_head head = {0};
    ink_head_snapshot_t stale;

    (void)state;
    push(&head, 3);
    stale = ink_head_snapshot(&head);

    assert_int_equal(pop(&head), 3);
    push(&head, 5);
    assert_int_equal(pop_all(&head), 5);
    push(&head, 3);

    assert_false(ink_head_commit_pop(&head, &stale, 0));
    assert_int_equal(pop(&head), 3);
}

/* A commit that fails shows what the head holds now, and with that the next try succeeds. */
static void commit_that_fails_renews_snapshot(void **state)
{
    struct ink_head head = {0};
    ink_head_snapshot_t snapshot = ink_head_snapshot(&head);

    (void)state;
    push(&head, 1);
    assert_false(ink_head_commit_push(&head, &snapshot, 2));
    assert_int_equal(ink_head_top(snapshot), 1);
    links[2] = 1;
    assert_true(ink_head_commit_push(&head, &snapshot, 2));

    snapshot = ink_head_snapshot(&head);
    push(&head, 4);
    assert_false(ink_head_commit_pop(&head, &snapshot, 1));
    assert_int_equal(ink_head_top(snapshot), 4);
    assert_true(ink_head_commit_pop(&head, &snapshot, 2));
    assert_int_equal(ink_head_top(ink_head_snapshot(&head)), 2);
}

/* A commit that fails leaves the head alone. */
static void commit_that_fails_changes_nothing(void **state)
{
    struct ink_head head = {0};
    ink_head_snapshot_t stale = ink_head_snapshot(&head), before;

    (void)state;
    push(&head, 1);
    before = ink_head_snapshot(&head);
    assert_false(ink_head_commit_push(&head, &stale, 2));
    assert_int_equal(ink_head_top(ink_head_snapshot(&head)), ink_head_top(before));
    assert_int_equal(ink_head_version(ink_head_snapshot(&head)), ink_head_version(before));
}

static uint64_t version(struct ink_head *head)
{
    return ink_head_version(ink_head_snapshot(head));
}

/* Each removal counts, a push does not. */
static void version_advances_with_removals_only(void **state)
{
    struct ink_head head = {0};
    uint64_t before = version(&head);

    (void)state;
    push(&head, 1);
    push(&head, 2);
    push(&head, 3);
    assert_int_equal(version(&head), before);
    assert_int_equal(pop(&head), 3);
    assert_int_equal(version(&head), before + 1);
    push(&head, 3);
    assert_int_equal(version(&head), before + 1);
    assert_int_equal(pop_all(&head), 3);
    assert_int_equal(version(&head), before + 2);
}

static void age_index(struct ink_index_head *head, uint32_t top)
{
    ink_store_relaxed(&head->word, (uint64_t)UINT32_MAX << 32 | top);
}

static void age_locked(struct ink_locked_head *head, ink_locked_link_t top)
{
    ink_store_relaxed(&head->version, UINT32_MAX);
    ink_store_relaxed(&head->top, top);
}

#ifdef INK_HEAD_WIDE_H
static void age_wide(struct ink_wide_head *head, ink_wide_link_t top)
{
    ink_wide_snapshot_t snapshot = ink_wide_snapshot(head);

    assert_true(ink_wide_commit(head, &snapshot, UINTPTR_MAX, top));
}
#define AGE_WIDE , struct ink_wide_head * : age_wide
#else
#define AGE_WIDE
#endif

/* The version's last number is followed by 0; the link next to it does not notice. */
static void version_at_its_end_wraps_and_spares_link(void **state)
{
    struct ink_head head = {0};

    (void)state;
    _Generic(&head, struct ink_index_head *
             : age_index, struct ink_locked_head *
             : age_locked AGE_WIDE)(&head, 6);
    links[6] = 5;
    links[5] = 0;
    assert_int_equal(pop(&head), 6);
    assert_int_equal(version(&head), 0);
    assert_int_equal(pop(&head), 5);
    assert_int_equal(pop(&head), 0);
}

enum { NODES = 4, ROUNDS = 50000 };

struct shared {
    struct ink_head head;
    _Atomic(ink_head_link_t) link[NODES + 1];
    ink_flag_t taken[NODES + 1];
    _Atomic uint64_t twice;
};

static void shared_push(struct shared *shared, ink_head_link_t node)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(&shared->head);

    do
        ink_store_relaxed(&shared->link[node], ink_head_top(snapshot));
    while (!ink_head_commit_push(&shared->head, &snapshot, node));
}

/* As if the time slice ended here. */
static void now_and_then_yield(void)
{
    static _Thread_local unsigned calls;

    if (++calls % 64 == 0)
        sched_yield();
}

static ink_head_link_t shared_pop(struct shared *shared)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(&shared->head);
    ink_head_link_t next;

    do {
        if (ink_head_top(snapshot) == 0)
            return 0;
        next = ink_load_relaxed(&shared->link[ink_head_top(snapshot)]);
        now_and_then_yield();
    } while (!ink_head_commit_pop(&shared->head, &snapshot, next));
    return ink_head_top(snapshot);
}

static void take_and_put_back(void *arg)
{
    struct shared *shared = *(struct shared **)arg;

    for (int i = 0; i < ROUNDS; i++) {
        ink_head_link_t node = shared_pop(shared);

        if (node == 0)
            continue;
        if (ink_exchange_acq_rel(&shared->taken[node], 1) != 0)
            ink_add_relaxed(&shared->twice, 1);
        now_and_then_yield();
        (void)ink_exchange_acq_rel(&shared->taken[node], 0);
        shared_push(shared, node);
    }
}

/* Few nodes and many threads: nodes come back to the top all the time, and nobody takes one that
 * another holds. */
static void nodes_under_contention_have_one_holder(void **state)
{
    static struct shared shared;
    struct shared *args[4] = {&shared, &shared, &shared, &shared};
    unsigned nodes = 0;

    (void)state;
    for (ink_head_link_t node = 1; node <= NODES; node++)
        shared_push(&shared, node);
    unit_threads(4, take_and_put_back, args, sizeof args[0]);
    assert_int_equal(ink_load_relaxed(&shared.twice), 0);
    while (shared_pop(&shared) != 0)
        nodes++;
    assert_int_equal(nodes, NODES);
}

UNIT_MAIN(cmocka_unit_test(snapshot_of_zeroed_head_is_empty),
          cmocka_unit_test(pop_after_pushes_gives_last_first),
          cmocka_unit_test(push_of_any_link_keeps_it_whole),
          cmocka_unit_test(pop_with_stale_snapshot_fails_though_top_is_same_again),
          cmocka_unit_test(pop_with_snapshot_from_before_popall_fails_though_top_is_same_again),
          cmocka_unit_test(popall_with_stale_snapshot_fails_though_top_is_same_again),
          cmocka_unit_test(commit_that_fails_renews_snapshot),
          cmocka_unit_test(commit_that_fails_changes_nothing),
          cmocka_unit_test(version_advances_with_removals_only),
          cmocka_unit_test(version_at_its_end_wraps_and_spares_link),
          cmocka_unit_test(nodes_under_contention_have_one_holder))
