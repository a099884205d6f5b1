/* Thread caches: what a bin does when it is empty or full, and when its thread ends.
 *
 * Every function works in a cache that the caller has taken (or whose thread is gone), so nobody
 * else moves its cursors.  Spares change hands by exchange: others may take them at any time. */
#ifndef INK_CACHE_H
#define INK_CACHE_H

#include "cc.h"
#include "lock.h"
#include "thread.h"

/* An item of class; NULL when there is no memory. */
void *ink_cache_alloc(struct ink_cache *cache, unsigned class, struct ink_locker me);

/* Takes p, an item of class, back.  A second p on top of the first is fatal. */
void ink_cache_free(struct ink_cache *cache, unsigned class, void *p, struct ink_locker me);

/* Passes a batch on that the cache's bins have no place for. */
void ink_cache_pass_on(struct ink_cache *cache, unsigned class, struct ink_frame *batch,
                       struct ink_locker me);

/* Allocation and freeing for a thread without a cache, by way of the shared lists. */
void *ink_cache_alloc_single(unsigned class, struct ink_locker me);
void ink_cache_free_single(unsigned class, void *p, struct ink_locker me);

/* Sends the items of a row that no bin refers to any more down to the runs, and its frame to the
 * pool. */
void ink_row_give(unsigned class, ink_slot_t *slot, struct ink_locker me);

/* Gives everything in the cache back: whole batches to the shared lists, the rest to the runs. */
void ink_cache_flush(struct ink_cache *cache, struct ink_locker me);

/* Takes the batches that wait in the cache's bins and sends them down to the runs.  Any thread, for
 * any cache. */
void ink_cache_drain_spares(struct ink_cache *cache, struct ink_locker me);

#endif
