/* The runs of a class that have free items, split into shards, each with its lock.
 *
 * A run belongs to one shard for as long as it lives; the shard's lock, the run's "class lock",
 * guards its bitmap and counts.  Normally one shard of a class is in use; another takes its place
 * when its lock cannot be had for long.  Whoever finds a lock that a thread took to its grave makes
 * the shard's counts and buckets anew from the bitmaps, the only truth. */
#ifndef INK_RUN_SHARD_H
#define INK_RUN_SHARD_H

#include "buckets.h"
#include "cc.h"
#include "chunk.h"
#include "lock.h"
#include "sizeclass.h"

enum { INK_RUN_SHARDS = 4, INK_WORD_BITS = 64 };

struct ink_run_shard {
    _Alignas(INK_LINE_BYTES) struct ink_lock lock;
    struct ink_buckets buckets; /* runs with free items; lock */
    /* Bytes not yet added to the sum of what is out, which all threads share; lock. */
    ptrdiff_t out_unsaid;
};

struct ink_run_class {
    struct ink_run_shard shard[INK_RUN_SHARDS];
    /* The shard that refills use; any thread moves it on when that one's lock cannot be had. */
    _Atomic uint8_t current;
};

extern struct ink_run_class ink_run_classes[INK_CLASS_COUNT];

static inline struct ink_run_shard *ink_run_shard_at(unsigned class, unsigned number)
{
    return &ink_run_classes[class].shard[number];
}

/* Words of the run's bitmap. */
static inline unsigned ink_run_words(const struct ink_run *run)
{
    return (ink_load_relaxed(&run->items) + INK_WORD_BITS - 1u) / INK_WORD_BITS;
}

/* What the bitmap says. */
unsigned ink_run_count_free(const struct ink_run *run);

/* Locks a shard, and repairs it where that is due; try: unless it would have to wait.  False: not
 * locked.  Give it back by ink_lock_release. */
bool ink_run_shard_lock(unsigned class, unsigned number, struct ink_locker me);
bool ink_run_shard_try(unsigned class, unsigned number, struct ink_locker me);

/* Locks a shard for a refill and tells which; -1 if none could be had. */
int ink_run_shard_lock_any(unsigned class, struct ink_locker me);

/* Moves the run to the bucket where its count of free items belongs.  Class lock. */
void ink_run_rebucket(struct ink_run_shard *shard, struct ink_run *run);

/* Counts bytes as out (see run_bytes.h), now or with the next ones.  Class lock. */
void ink_run_shard_count_out(struct ink_run_shard *shard, ptrdiff_t bytes);

/* What was counted and not yet said.  Class lock. */
void ink_run_shard_publish_out(struct ink_run_shard *shard);

#endif
