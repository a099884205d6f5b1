/* The versioned head: removal is refused to whoever looked before another removal. */
#include "head.h"
#include "unit.h"

/* Links of a small stack of indices 1 .. 7, as its users keep them. */
static uint32_t links[8];

static void push(struct ink_head *head, uint32_t index)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(head);

    do
        links[index] = ink_head_top(snapshot);
    while (!ink_head_commit_push(head, &snapshot, index));
}

static uint32_t pop(struct ink_head *head)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(head);

    do
        if (ink_head_top(snapshot) == 0)
            return 0;
    while (!ink_head_commit_pop(head, &snapshot, links[ink_head_top(snapshot)]));
    return ink_head_top(snapshot);
}

static uint32_t pop_all(struct ink_head *head)
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

/* The whole range of an index comes back as it went in. */
static void push_of_any_index_keeps_it_whole(void **state)
{
    static const uint32_t indices[] = {1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

    (void)state;
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        struct ink_head head = {0};
        ink_head_snapshot_t snapshot = ink_head_snapshot(&head);

        assert_true(ink_head_commit_push(&head, &snapshot, indices[i]));
        assert_int_equal(ink_head_top(ink_head_snapshot(&head)), indices[i]);
    }
}

/* A popper that was late must not take the top by a link of yesterday, though the same index is on top again. */
static void pop_with_stale_snapshot_fails_though_top_is_same_again(void **state)
{
    struct ink_head head = {0};
    ink_head_snapshot_t stale;
    uint32_t next;

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
    assert_true(ink_head_snapshot(&head) == before);
}

#ifdef INK_HEAD_INDEX
static uint32_t version(struct ink_head *head)
{
    return (uint32_t)(ink_head_snapshot(head) >> 32);
}

/* Each removal counts, a push does not. */
static void version_advances_with_removals_only(void **state)
{
    struct ink_head head = {0};
    uint32_t before = version(&head);

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

/* The version's last number is followed by 0; the index next to it does not notice. */
static void version_at_its_end_wraps_and_spares_index(void **state)
{
    struct ink_head head = {0};

    (void)state;
    ink_store_relaxed(&head.word, (uint64_t)0xffffffff << 32 | 6);
    links[6] = 5;
    links[5] = 0;
    assert_int_equal(pop(&head), 6);
    assert_int_equal(version(&head), 0);
    assert_int_equal(pop(&head), 5);
    assert_int_equal(pop(&head), 0);
}
#endif

UNIT_MAIN(cmocka_unit_test(snapshot_of_zeroed_head_is_empty),
          cmocka_unit_test(pop_after_pushes_gives_last_first),
          cmocka_unit_test(push_of_any_index_keeps_it_whole),
          cmocka_unit_test(pop_with_stale_snapshot_fails_though_top_is_same_again),
          cmocka_unit_test(pop_with_snapshot_from_before_popall_fails_though_top_is_same_again),
          cmocka_unit_test(popall_with_stale_snapshot_fails_though_top_is_same_again),
          cmocka_unit_test(commit_that_fails_renews_snapshot),
          cmocka_unit_test(commit_that_fails_changes_nothing),
#ifdef INK_HEAD_INDEX
          cmocka_unit_test(version_advances_with_removals_only),
          cmocka_unit_test(version_at_its_end_wraps_and_spares_index),
#endif
)
