/* Purging: free units of chunks, and whole chunks, go back to the system.  No lock is held across a
 * system call. */
#ifndef INK_PURGE_H
#define INK_PURGE_H

#include "cc.h"
#include "lock.h"

/* Purges free units if more are dirty than dirty.h allows, whole chunks first, until a quarter less
 * than that is left.  Called without a lock, after runs were given back. */
void ink_purge_excess(struct ink_locker me);

/* Purges free units so that a fresh mapping, which has raised what is in use, lifts the process no
 * further than dirty.h allows.  Without a lock. */
void ink_purge_make_room(struct ink_locker me);

/* Purges free units until no more bytes are dirty, whole chunks first; no more than there was to do
 * at first, as what others free meanwhile is theirs to purge.  Without a lock. */
void ink_purge_down_to(size_t bytes, struct ink_locker me);

/* Returns free units to the system: purges what is dirty, unmaps chunks that are wholly free.
 * Bytes returned. */
size_t ink_purge_trim(struct ink_locker me);

#endif
