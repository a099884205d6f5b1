/* Giving back: everything that is free goes down to the runs, from there to the chunks, from there to the system. */
#ifndef INK_TRIM_H
#define INK_TRIM_H

#include "cc.h"

/* Returns what is free in this thread's cache, in other threads' spare batches, on the shared lists, in runs and chunks.  Bytes
 * given to the system.  Any thread; takes locks one after another and waits for none for long. */
size_t ink_trim(void);

#endif
