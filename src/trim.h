/* Giving back: everything that is free goes down to the runs, from there to the chunks, from there to the system. */
#ifndef INK_TRIM_H
#define INK_TRIM_H

#include "cc.h"
#include "run.h"
#include "turn.h"

/* After a collapse (run.h): sends what is cached in turn's own cache, in those of other threads (steal.h) and on the lists down to the runs, and purges whole free pages.  One
 * thread at a time; the others go on. */
void ink_trim_after_collapse(const struct ink_turn *turn);

/* Returns what is free in this thread's cache, in those of other threads (steal.h), on the shared lists, in runs and chunks.  Bytes
 * given to the system.  Any thread; takes locks one after another and waits for none for long. */
size_t ink_trim(void);

#endif
