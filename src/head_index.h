/* Head tier "index": {version:32 | index:32} in one 64-bit word.  No double-width compare-and-swap,
 * no assumption on the width of addresses: an index names a node in memory that the allocator owns
 * for ever.  See head.h for the interface. */
#ifndef INK_HEAD_INDEX_H
#define INK_HEAD_INDEX_H

#include "cc.h"

struct ink_index_head {
    /* Written by any thread through the two commits; read by any thread.  A push releases the node
     * it puts on top; snapshot and pop acquire it. */
    _Alignas(8) _Atomic uint64_t word;
};

typedef uint32_t ink_index_link_t;
typedef uint64_t ink_index_snapshot_t;

static_assert(sizeof(struct ink_index_head) == 8, "the head is one word");
static_assert(__GCC_ATOMIC_LLONG_LOCK_FREE != 0, "the index head needs a 64-bit compare-and-swap");

static inline ink_index_snapshot_t ink_index_snapshot(struct ink_index_head *head)
{
    return ink_load_acquire(&head->word);
}

static inline ink_index_link_t ink_index_top(ink_index_snapshot_t snapshot)
{
    return (ink_index_link_t)snapshot;
}

static inline uint64_t ink_index_version(ink_index_snapshot_t snapshot)
{
    return snapshot >> 32;
}

static inline bool ink_index_commit_pop(struct ink_index_head *head, ink_index_snapshot_t *snapshot,
                                        ink_index_link_t next)
{
    uint64_t version = (*snapshot >> 32) + 1;

    /* Linearises here.  Acquire on failure as well: the renewed snapshot's top is about to be
     * looked at. */
    return ink_cas_acquire(&head->word, snapshot, version << 32 | next);
}

static inline bool ink_index_commit_push(struct ink_index_head *head,
                                         ink_index_snapshot_t *snapshot, ink_index_link_t node)
{
    /* Linearises here.  The version may stay: a push never makes a stale link true. */
    return ink_cas_release(&head->word, snapshot, (*snapshot >> 32) << 32 | node);
}

#endif
