/* Giving back: everything that is free goes down to the runs, from there to the chunks, from there to the system. */
#ifndef INK_TRIM_H
#define INK_TRIM_H

#include "cc.h"
#include "run.h"
#include "turn.h"

/* After a collapse (run.h): what is cached in turn's own cache, in those of other threads (steal.h) and on the lists goes down to the runs, and whole free pages between live
 * items are purged.  In steps of about a millisecond, one at each slow free while ink_trim_is_due, so that no single free pays for all.  One thread at a
 * time; the others go on. */
void ink_trim_step(const struct ink_turn *turn);

/* The next step of an answer that is under way; 0: none.  Written by whoever does a step. */
extern INK_HIDDEN _Atomic unsigned ink_trim_next_step;

static inline bool ink_trim_is_due(void)
{
    return ink_load_relaxed(&ink_trim_next_step) != 0 || ink_run_has_collapsed();
}

/* Returns what is free in this thread's cache, in those of other threads (steal.h), on the shared lists, in runs and chunks.  Bytes
 * given to the system.  Any thread; takes locks one after another and waits for none for long. */
size_t ink_trim(void);

#endif
