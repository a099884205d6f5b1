/* Occupancy buckets: lists, and the mask that says which of them have something. */
#include "buckets.h"
#include "unit.h"

#include <stdlib.h>

enum { NODES = 20 };

/* The list of a bucket must be whole in both directions, and the mask must say whether there is
 * one; its length. */
static unsigned checked_length(const struct ink_buckets *buckets, unsigned bucket)
{
    const struct ink_bucket_node *previous = NULL;
    unsigned length = 0;

    for (const struct ink_bucket_node *node = buckets->first[bucket]; node != NULL;
         node = node->next) {
        assert_ptr_equal(node->previous, previous);
        previous = node;
        length++;
        assert_true(length <= NODES);
    }
    assert_int_equal(buckets->used >> bucket & 1, length != 0);
    return length;
}

static bool holds(const struct ink_buckets *buckets, unsigned bucket,
                  const struct ink_bucket_node *node)
{
    const struct ink_bucket_node *at = buckets->first[bucket];

    while (at != NULL && at != node)
        at = at->next;
    return at != NULL;
}

/* Nothing is fullest of nothing. */
static void fullest_of_empty_buckets_is_null(void **state)
{
    struct ink_buckets buckets = {.used = 0};

    (void)state;
    assert_null(ink_buckets_fullest(&buckets));
}

/* The lowest bucket that has something is the fullest, whatever came in between. */
static void fullest_is_first_of_lowest_bucket(void **state)
{
    struct ink_buckets buckets = {.used = 0};
    struct ink_bucket_node nodes[INK_BUCKETS];

    (void)state;
    for (unsigned i = INK_BUCKETS; i-- > 0;) {
        ink_buckets_insert(&buckets, &nodes[i], i);
        assert_ptr_equal(ink_buckets_fullest(&buckets), &nodes[i]);
    }
    for (unsigned i = 0; i < INK_BUCKETS; i++) {
        assert_ptr_equal(ink_buckets_fullest(&buckets), &nodes[i]);
        ink_buckets_remove(&buckets, &nodes[i], i);
    }
    assert_null(ink_buckets_fullest(&buckets));
    assert_int_equal(buckets.used, 0);
}

/* Removal works at a list's beginning, middle and end. */
static void remove_anywhere_in_list_keeps_the_others(void **state)
{
    static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    (void)state;
    for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++) {
        struct ink_buckets buckets = {.used = 0};
        struct ink_bucket_node nodes[3];

        for (unsigned i = 0; i < 3; i++)
            ink_buckets_insert(&buckets, &nodes[i], 4);
        for (unsigned i = 0; i < 3; i++) {
            ink_buckets_remove(&buckets, &nodes[orders[o][i]], 4);
            assert_int_equal(checked_length(&buckets, 4), 2 - i);
            assert_false(holds(&buckets, 4, &nodes[orders[o][i]]));
        }
    }
}

/* To move within a bucket is to stay: the order does not change. */
static void move_within_bucket_changes_nothing(void **state)
{
    struct ink_buckets buckets = {.used = 0};
    struct ink_bucket_node nodes[2];

    (void)state;
    ink_buckets_insert(&buckets, &nodes[0], 2);
    ink_buckets_insert(&buckets, &nodes[1], 2);
    ink_buckets_move(&buckets, &nodes[0], 2, 2);
    assert_ptr_equal(buckets.first[2], &nodes[1]);
    ink_buckets_move(&buckets, &nodes[0], INK_BUCKET_NONE, INK_BUCKET_NONE);
    assert_int_equal(checked_length(&buckets, 2), 2);
}

/* After any moves each node is in the bucket it was moved to and in no other, and the mask tells
 * the truth. */
static void move_at_random_keeps_each_node_where_it_belongs(void **state)
{
    struct ink_buckets buckets = {.used = 0};
    struct ink_bucket_node nodes[NODES];
    unsigned place[NODES];
    uint64_t seed = 7;

    (void)state;
    for (int i = 0; i < NODES; i++)
        place[i] = INK_BUCKET_NONE;
    for (int step = 0; step < 20000; step++) {
        unsigned node = unit_random(&seed) % NODES, to = unit_random(&seed) % (INK_BUCKETS + 1);
        unsigned expected = 0, found = 0, lowest = INK_BUCKET_NONE;

        ink_buckets_move(&buckets, &nodes[node], place[node], to);
        place[node] = to;
        for (int i = 0; i < NODES; i++) {
            expected += place[i] != INK_BUCKET_NONE;
            lowest = place[i] < lowest ? place[i] : lowest;
            assert_true(place[i] == INK_BUCKET_NONE || holds(&buckets, place[i], &nodes[i]));
        }
        for (unsigned bucket = 0; bucket < INK_BUCKETS; bucket++)
            found += checked_length(&buckets, bucket);
        assert_int_equal(found, expected);
        assert_ptr_equal(ink_buckets_fullest(&buckets),
                         lowest == INK_BUCKET_NONE ? NULL : buckets.first[lowest]);
    }
}

UNIT_MAIN(cmocka_unit_test(fullest_of_empty_buckets_is_null),
          cmocka_unit_test(fullest_is_first_of_lowest_bucket),
          cmocka_unit_test(remove_anywhere_in_list_keeps_the_others),
          cmocka_unit_test(move_within_bucket_changes_nothing),
          cmocka_unit_test(move_at_random_keeps_each_node_where_it_belongs))
