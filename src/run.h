/* Runs of one size class: which of their items are free.
 *
 * The bitmap is the only truth: bit set = the item is in nobody's hand.  Counts and buckets are
 * made anew from it when a lock is taken over.  Items travel between bitmaps and thread caches in
 * batches:
 *
 *   refill   takes whole bitmap words, from the fullest run, lowest address first: neighbours stay
 *            together
 *   drain    puts a batch's items back; checks that each stands at an item boundary of a run of
 *            that class and is not free already */
#ifndef INK_RUN_H
#define INK_RUN_H

#include "cc.h"
#include "chunk.h"
#include "frame.h"
#include "lock.h"
#include "map.h"
#include "sizeclass.h"

/* Fills the frame, which the caller holds and which is IDLE, with up to wanted items of class; it
 * is a BATCH afterwards.  How many: 0 only when there is no memory.  Any thread. */
unsigned ink_run_refill(unsigned class, struct ink_frame *frame, unsigned wanted,
                        struct ink_locker me);

/* Puts the items of the row that begins at slot back and empties the row.  Returns the first slot
 * of what is left: that is the end of the row, unless a lock could not be had and wait is false.
 * Misuse found on the way is fatal, in the name of free. */
ink_slot_t *ink_run_drain(unsigned class, ink_slot_t *slot, bool wait, struct ink_locker me);

/* The run whose item or block p may be: of any state, or NULL if nothing of the kind is or was
 * there. */
static inline struct ink_run *ink_run_find(const void *p)
{
    ink_owner_t owner = ink_owner_of(p);

    return (owner & 1) == 0 ? (struct ink_run *)owner : NULL;
}

/* What is wrong with p as an item of a run of class, or NULL.  Does not tell whether the item is
 * free. */
const char *ink_run_fault(const struct ink_run *run, unsigned class, const void *p);

/* Of a faultless item: whether its bit says that nobody has it.  Exact only for an item that the
 * caller holds or has just been given. */
bool ink_run_item_is_free(const struct ink_run *run, const void *p);

/* Gives wholly free runs that were kept back to the chunks. */
void ink_run_trim(struct ink_locker me);

/* Bytes of runs of a class and how many of their items are free, as far as can be told without
 * locks. */
struct ink_run_sum {
    size_t runs;
    size_t bytes;
    size_t items;
    size_t free_items;
};
void ink_run_sum(struct ink_run_sum sums[static INK_CLASS_SLOTS]);

#endif
