/* How much free memory may stay dirty, that is with the process: its pages hold something and would
 * come back without a fault.
 *
 *   allowed = the larger of a fixed part and an eighth of what is in use, and what has been
 *   regretted lately
 *
 * Memory that was purged and is taken up again was purged in vain: so much more may stay from then
 * on, up to a quarter of the most that was in use lately, and half as much with each second.  So a
 * program that breathes keeps what it needs, and one that has shrunk for good gives it back.
 *
 * Under a limit that the user has set no more may stay than there is room beside what is in use. */
#ifndef INK_DIRTY_H
#define INK_DIRTY_H

#include "cc.h"

/* Bytes that may stay dirty while so many bytes of chunks are in use; large blocks in use are known
 * here.  Any thread; no lock, no system call. */
size_t ink_dirty_allowed(size_t chunks);

/* The same once a fresh mapping has raised what is in use: what is free may not lift the process
 * far above the most that was in use lately, or a program that turns from small blocks to one large
 * one would meet a limit that it stayed well below. */
size_t ink_dirty_allowed_beside(size_t chunks);

/* Whether the hard limit (options.h) leaves room for so many bytes beside so many of chunks.  Runs
 * that several threads take at the same time are judged one by one: together they may pass it by
 * what all but one take, a MiB each at most.  Any thread. */
bool ink_dirty_may_take(size_t bytes, size_t chunks);

/* Whether more is in use than the soft limit allows. */
bool ink_dirty_is_above_soft_limit(size_t chunks);

/* Adds to the bytes of large blocks in use; their sum, after it.  This is where they are
 * counted. */
size_t ink_dirty_add_large_live(size_t bytes);

/* The same for a block that is about to be made; false, and nothing added, if it would pass the
 * hard limit.  Of two at once that do not both fit both may be refused. */
bool ink_dirty_reserve_large(size_t bytes, size_t chunks);
size_t ink_dirty_large_in_use(void);

/* Adds to the bytes of freed large blocks that are kept dirty; their sum.  They and dirty chunks
 * share what is allowed. */
void ink_dirty_add_large(size_t bytes);
size_t ink_dirty_large(void);

/* The least that their sum was since this was last called.  A glance. */
size_t ink_dirty_take_large_low(void);

/* What is in use has been raised: before the operation ends (upkeep.h), kept large blocks are given
 * back, or free chunks as well, as far as that passes ink_dirty_allowed_beside.  Under a limit
 * always all of it.  Any thread; may be called under a lock. */
enum ink_room { INK_ROOM_FROM_LARGE = 1, INK_ROOM_FROM_ALL = 3 };
void ink_dirty_want_room(enum ink_room room);

extern INK_HIDDEN _Atomic unsigned ink_dirty_room_wanted; /* bits of enum ink_room */

/* Purged memory of so many bytes was taken up again while so many bytes of chunks are in use.  Any
 * thread. */
void ink_dirty_regret(size_t bytes, size_t chunks);

/* What has been regretted fades with time.  Called when the limit has been met; reads the clock. */
void ink_dirty_forgive(void);

#endif
