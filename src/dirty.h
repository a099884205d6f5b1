/* How much free memory may stay dirty, that is with the process: its pages hold something and would come back without a fault.
 *
 *   allowed = the larger of a fixed part and an eighth of what is in use, and what has been regretted lately
 *
 * Memory that was purged and is taken up again was purged in vain: so much more may stay from then on, up to a quarter of the most that was in use
 * lately, and half as much with each second.  So a program that breathes keeps what it needs, and one that has shrunk for good gives it back. */
#ifndef INK_DIRTY_H
#define INK_DIRTY_H

#include "cc.h"

/* Bytes that may stay dirty while so many bytes of chunks are in use; large blocks in use are known here.  Any thread; no lock, no system call. */
size_t ink_dirty_allowed(size_t chunks);

/* The same once a fresh mapping has raised what is in use: what is free may not lift the process far above the most that was in use lately, or a
 * program that turns from small blocks to one large one would meet a limit that it stayed well below. */
size_t ink_dirty_allowed_beside(size_t chunks);

/* Adds to the bytes of large blocks in use; their sum, after it.  This is where they are counted. */
size_t ink_dirty_add_large_live(size_t bytes);
size_t ink_dirty_large_in_use(void);

/* Adds to the bytes of freed large blocks that are kept dirty; their sum.  They and dirty chunks share what is allowed. */
void ink_dirty_add_large(size_t bytes);
size_t ink_dirty_large(void);

/* What is in use has been raised: before the operation ends (upkeep.h), kept large blocks are given back, or free chunks as well, as far as that passes
 * ink_dirty_allowed_beside.  Any thread; may be called under a lock. */
enum ink_room { INK_ROOM_FROM_LARGE = 1, INK_ROOM_FROM_ALL = 3 };
void ink_dirty_want_room(enum ink_room room);

extern INK_HIDDEN _Atomic unsigned ink_dirty_room_wanted; /* bits of enum ink_room */

/* Purged memory of so many bytes was taken up again while so many bytes of chunks are in use.  Any thread. */
void ink_dirty_regret(size_t bytes, size_t chunks);

/* What has been regretted fades with time.  Called when the limit has been met; reads the clock. */
void ink_dirty_forgive(void);

#endif
