/* Giving back: everything that is free goes down to the runs, from there to the chunks, from there
 * to the system. */
#ifndef INK_TRIM_H
#define INK_TRIM_H

#include "cc.h"
#include "turn.h"

/* Returns what is free in this thread's cache, in those of other threads (steal.h), on the shared
 * lists, in runs and chunks.  Bytes given to the system.  Any thread; takes locks one after another
 * and waits for none for long. */
size_t ink_trim(void);

/* Of that, the first step: what is in caches and can be reached goes down to the runs. */
void ink_trim_caches(const struct ink_turn *turn);

#endif
