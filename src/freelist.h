/* InkFreeList: per size class, the shared versioned lock-free stack of batches.
 *
 *            pop     push    pop_all   (any thread, at any time, from signal handlers too; nobody
 *                    must synchronise)
 *   pop       -       -        -
 *   push      -       -        -
 *
 * A batch is a frame in state BATCH with items at slots [0, n).  The stack links frames, which the
 * allocator owns, never the items: what a user writes to a block it has freed cannot reach it, and
 * a stale popper never reads what a user may write. */
#ifndef INK_FREELIST_H
#define INK_FREELIST_H

#include "cc.h"
#include "frame.h"
#include "lock.h"
#include "sizeclass.h"

struct ink_freelist {
    struct ink_stack stack;
    /* Batches that it may hold before it is looked at how much all lists pin.  Written by whoever
     * looks. */
    _Atomic uint32_t bound;
};

extern INK_HIDDEN struct ink_freelist ink_freelists[INK_CLASS_COUNT];

/* A batch of class, or NULL.  It stays a BATCH until the caller has put it somewhere. */
static inline struct ink_frame *ink_freelist_pop(unsigned class)
{
    return ink_stack_pop(&ink_freelists[class].stack);
}

/* Takes over a batch if the list is below its bound. */
static inline bool ink_freelist_push_below(unsigned class, struct ink_frame *batch)
{
    return ink_stack_push_below(&ink_freelists[class].stack, batch,
                                ink_load_relaxed(&ink_freelists[class].bound));
}

/* Takes over a batch.  When the lists together pin more than they may, its items go down to their
 * runs instead, as far as no lock has to be waited for: the frame is then empty, IDLE and the
 * caller's again.  Else NULL. */
struct ink_frame *ink_freelist_push_or_drain(unsigned class, struct ink_frame *batch,
                                             struct ink_locker me);

/* The same, an emptied frame going to the pool. */
void ink_freelist_push(unsigned class, struct ink_frame *batch, struct ink_locker me);

/* While narrow, no list grows beyond its small bound, whatever else there is: batches go down to
 * the runs as they come.  Any thread. */
void ink_freelists_set_narrow(bool narrow);

/* Sends all batches down to the runs; the list begins anew with a small bound. */
void ink_freelist_drain(unsigned class, struct ink_locker me);

/* About how many items are on the list: exact if nobody changes it meanwhile. */
size_t ink_freelist_items(unsigned class);

/* About how many bytes the batches of all lists may keep resident, a page at least for each
 * item. */
size_t ink_freelists_pinned(void);

/* About how many batches are on the list. */
unsigned ink_freelist_depth(unsigned class);

#endif
