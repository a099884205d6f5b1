/* Occupancy buckets: things with something free in them, sorted roughly by how full they are, so
 * that the fullest is found by one count of trailing zeros and the emptiest are left alone to
 * become empty.  Whoever owns the lists locks them. */
#ifndef INK_BUCKETS_H
#define INK_BUCKETS_H

#include "cc.h"

enum {
    INK_BUCKETS = 8,
    INK_BUCKET_NONE = INK_BUCKETS, /* of a thing that has nothing free */
};

struct ink_bucket_node {
    struct ink_bucket_node *next;
    struct ink_bucket_node *previous;
};

struct ink_buckets {
    struct ink_bucket_node *first[INK_BUCKETS]; /* 0: the fullest */
    uint32_t used;                              /* bit n: bucket n has something */
};

static inline void ink_buckets_insert(struct ink_buckets *buckets, struct ink_bucket_node *node,
                                      unsigned bucket)
{
    node->next = buckets->first[bucket];
    node->previous = NULL;
    if (node->next != NULL)
        node->next->previous = node;
    buckets->first[bucket] = node;
    buckets->used |= 1u << bucket;
}

static inline void ink_buckets_remove(struct ink_buckets *buckets, struct ink_bucket_node *node,
                                      unsigned bucket)
{
    if (node->next != NULL)
        node->next->previous = node->previous;
    if (node->previous != NULL)
        node->previous->next = node->next;
    else
        buckets->first[bucket] = node->next;
    if (buckets->first[bucket] == NULL)
        buckets->used &= ~(1u << bucket);
}

/* Moves node from one bucket to another; INK_BUCKET_NONE for "in none". */
static inline void ink_buckets_move(struct ink_buckets *buckets, struct ink_bucket_node *node,
                                    unsigned from, unsigned to)
{
    if (from == to)
        return;
    if (from != INK_BUCKET_NONE)
        ink_buckets_remove(buckets, node, from);
    if (to != INK_BUCKET_NONE)
        ink_buckets_insert(buckets, node, to);
}

/* The first of the fullest bucket, or NULL. */
static inline struct ink_bucket_node *ink_buckets_fullest(const struct ink_buckets *buckets)
{
    return buckets->used != 0 ? buckets->first[__builtin_ctz(buckets->used)] : NULL;
}

#endif
