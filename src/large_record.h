/* Records of large blocks, and counts of the live ones.
 *
 * A record stands outside of its block and is never unmapped, so whoever got to it by a stale
 * pointer or index reads a record.  Records are on one of several stacks (head.h) while nobody has
 * their block: of spares, which have none, and of those of large_kept.h. */
#ifndef INK_LARGE_RECORD_H
#define INK_LARGE_RECORD_H

#include "cc.h"
#include "head.h"

enum {
    INK_LARGE_TAG = 1, /* in an owner word */
    /* States, in the low bits of the place word; a block's address is page-aligned. */
    INK_LARGE_FREE = 0,
    INK_LARGE_LIVE = 1,
    INK_LARGE_BUSY = 2, /* being moved */
    INK_LARGE_STATES = 3,
};

struct ink_large {
    /* {address | state}.  LIVE -> FREE or BUSY by compare-and-swap: whoever wins has the block to
     * itself. */
    _Atomic uintptr_t place;
    _Atomic size_t bytes;    /* of the mapping, from address on; written by whoever has the block */
    _Atomic uint32_t link;   /* number of the next spare record; see head.h */
    uint32_t number;         /* of this record, from 1; constant */
    struct ink_large *aside; /* the next of those that one thread has in hand */
};

static inline char *ink_large_address(const struct ink_large *large)
{
    return (char *)(ink_load_relaxed(&large->place) & ~(uintptr_t)INK_LARGE_STATES);
}

/* On and off a stack of records; NULL: it is empty.  Any thread, lock-free. */
void ink_large_push(struct ink_head *head, struct ink_large *large);
struct ink_large *ink_large_pop(struct ink_head *head);

/* A record without a block, and back; NULL: no memory.  Any thread. */
struct ink_large *ink_large_take_record(void);
void ink_large_spare_record(struct ink_large *large);

/* Adds to what is live; give 0 - n to subtract.  Any thread. */
void ink_large_count(size_t blocks, size_t bytes);

/* How many blocks are live.  Any thread; a glance. */
size_t ink_large_live(void);

struct ink_large_sum {
    size_t blocks;
    size_t bytes;
    size_t blocks_peak;
    size_t bytes_peak;
};
struct ink_large_sum ink_large_sum(void);

#endif
