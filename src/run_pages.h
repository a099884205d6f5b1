/* Whole pages that lie under free items of a run that is in use, and giving them back to the
 * system. */
#ifndef INK_RUN_PAGES_H
#define INK_RUN_PAGES_H

#include "cc.h"
#include "chunk.h"
#include "lock.h"

/* Purges whole free pages of the chunk's runs that are in use.  Whether there were any.  Any
 * thread. */
bool ink_run_purge_pages_of(struct ink_chunk *chunk, struct ink_locker me);

#endif
