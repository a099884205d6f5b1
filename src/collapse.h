/* After a collapse (run_bytes.h): what is cached in turn's own cache, in those of other threads
 * (steal.h) and on the lists goes down to the runs, and whole free pages between live items are
 * purged.  In steps of about a millisecond, one at each slow free while ink_collapse_is_due, so
 * that no single free pays for all.  One thread at a time; the others go on. */
#ifndef INK_COLLAPSE_H
#define INK_COLLAPSE_H

#include "cc.h"
#include "run_bytes.h"
#include "turn.h"

/* Asks for the same without a collapse: steps follow. */
void ink_collapse_want(void);

void ink_collapse_step(const struct ink_turn *turn);

/* The next step of an answer that is under way; 0: none.  Written by whoever does a step. */
extern INK_HIDDEN _Atomic unsigned ink_collapse_next_step;

static inline bool ink_collapse_is_under_way(void)
{
    return ink_load_relaxed(&ink_collapse_next_step) != 0;
}

static inline bool ink_collapse_is_due(void)
{
    return ink_collapse_is_under_way() || ink_run_has_collapsed();
}

#endif
