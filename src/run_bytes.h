/* Bytes of the runs of all classes together: what there is of them, and how much of it is out,
 * purged, dirty.
 *
 * The sums are added to by anyone, once in several batches or a run, and read at a glance by
 * whoever decides on purging.  What was on its way at a fork stays wrong in the child by a batch or
 * a run. */
#ifndef INK_RUN_BYTES_H
#define INK_RUN_BYTES_H

#include "cc.h"
#include "chunk.h"

/* Adds to the bytes of the runs of class; give 0 - bytes to subtract. */
void ink_run_add_bytes(unsigned class, size_t bytes);

/* Adds to what is out. */
void ink_run_add_out(ptrdiff_t bytes);

/* So many pages under the run's free items are purged now.  Returns the bytes that were before.
 * The run's class lock, or a run that nobody else knows. */
size_t ink_run_set_purged(struct ink_run *run, unsigned pages);

/* Bytes of items that are out: in the program's hands, in caches, on lists.  About: each shard may
 * be 32 KiB behind, until ink_run_trim.  Any thread. */
size_t ink_run_out_bytes(void);

/* Bytes of runs that nobody has and that may be resident: of free items, and what a run has left
 * over.  Any thread; a glance. */
size_t ink_run_dirty_bytes(void);

/* Bytes of the runs of a class.  Any thread; a glance. */
size_t ink_run_class_bytes(unsigned class);

/* Whether so little is out, compared with the most there was since ink_run_lower_mark, that runs
 * are likely to hold whole free pages, and more of them than dirty.h allows.  A few loads. */
bool ink_run_has_collapsed(void);

/* From here on a collapse is measured against what is out now. */
void ink_run_lower_mark(void);

#endif
