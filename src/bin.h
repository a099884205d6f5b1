/* Bins: one class's part of a thread cache.  The usual ways of a batch into and out of a bin,
 * without a lock or a call.
 *
 * Every function works in a cache that the caller has taken, so nobody else moves its cursors.
 * Spares change hands by exchange: others may take them at any time. */
#ifndef INK_BIN_H
#define INK_BIN_H

#include "cc.h"
#include "freelist.h"
#include "thread.h"

enum {
    INK_BIN_FIRST_CAPACITY = 4, /* a bin of a short program costs no more than it needs */
    INK_BIN_YOUNG = 8,          /* up to this capacity every overflow is checked item by item */
    /* May have full-grown bins; of twice as many each has half as much. */
    INK_BIN_THREADS = 64,
};

/* The room of the frames that the bin starts from now on, at most the class's batch_items, and less
 * when there are many threads. */
void ink_bin_set_capacity(struct ink_bin *bin, unsigned class, unsigned capacity);

/* A bin begins small and grows each time that its frames prove too few. */
void ink_bin_grow(struct ink_bin *bin, unsigned class);

/* At a young bin's overflow: every item of the full frame, and p, is an item of class, is not free,
 * and stands once in the frame and not in the spare, which the caller has in hand.  Anything else
 * is fatal.  Short programs never get beyond this. */
void ink_bin_check_young(unsigned class, const struct ink_frame *full,
                         const struct ink_frame *spare, const void *p);

/* Loads a batch of fewer items than the bin has room for; the first of them. */
void *ink_bin_load_short(struct ink_cache *cache, unsigned class, struct ink_frame *batch,
                         ink_slot_t *old);

/* Takes a marked bin back, or finds it empty if its frame is gone.  What the cursor is then. */
ink_slot_t *ink_bin_settle_claim(struct ink_cache *cache, unsigned class);

/* The bin's cursor, for its owner: no mark.  It stays true for the rest of the operation, since a
 * frame that is marked from now on is taken only when the operation has ended, and not if it has
 * stored a cursor; so an operation reads it once. */
static inline ink_slot_t *ink_bin_cursor(struct ink_cache *cache, unsigned class)
{
    ink_slot_t *slot = ink_load_acquire(&cache->cursor[class]);

    return ink_likely(slot != INK_STOLEN_CURSOR) ? slot : ink_bin_settle_claim(cache, class);
}

static inline struct ink_frame *ink_bin_take_spare(struct ink_bin *bin)
{
    return ink_load_relaxed(&bin->spare) != NULL ? ink_exchange_acq_rel(&bin->spare, NULL) : NULL;
}

/* An empty frame from those at hand, or NULL.  It leaves the list before it is used: a child of a
 * fork must not find it twice. */
static inline struct ink_frame *ink_cache_pop_empty(struct ink_cache *cache)
{
    unsigned empties = ink_load_relaxed(&cache->empties);

    if (empties == 0)
        return NULL;
    ink_store_relaxed(&cache->empties, (uint8_t)(empties - 1));
    ink_signal_fence();
    return ink_load_relaxed(&cache->empty[empties - 1]);
}

static inline struct ink_frame *ink_cache_take_empty(struct ink_cache *cache)
{
    struct ink_frame *frame = ink_cache_pop_empty(cache);

    return ink_likely(frame != NULL) ? frame : ink_frame_take_empty();
}

static inline void ink_cache_keep_empty(struct ink_cache *cache, struct ink_frame *frame)
{
    unsigned empties = ink_load_relaxed(&cache->empties);

    ink_frame_set_idle(frame);
    if (ink_unlikely(empties == INK_CACHE_EMPTIES)) {
        ink_frame_give_empty(frame);
        return;
    }
    ink_store_relaxed(&cache->empty[empties], frame);
    ink_signal_fence();
    ink_store_relaxed(&cache->empties, (uint8_t)(empties + 1));
}

/* Loads a batch into an empty bin, whose cursor is old, and hands its first item out; what was
 * loaded before is an empty frame then. */
static inline void *ink_bin_load(struct ink_cache *cache, unsigned class, struct ink_frame *batch,
                                 ink_slot_t *old)
{
    struct ink_bin *bin = &cache->bin[class];
    unsigned items = ink_frame_items(batch);
    void *p;

    if (ink_unlikely(items < bin->capacity))
        return ink_bin_load_short(cache, class, batch, old);
    bin->loaded = (uint8_t)items;
    bin->refilled = true;
    p = ink_load_relaxed(&batch->slot[0]);
    ink_store_relaxed(&cache->cursor[class], &batch->slot[1]);
    ink_signal_fence();
    ink_frame_set_bin(batch);
    if (ink_likely(old != INK_NO_CURSOR))
        ink_cache_keep_empty(cache, ink_frame_of_slot(old));
    return p;
}

/* An item from the spare or the shared list of an empty bin; NULL if neither is there, or the bin
 * is marked and so may not be empty. */
static inline void *ink_bin_alloc_batch(struct ink_cache *cache, unsigned class)
{
    ink_slot_t *old = ink_load_relaxed(&cache->cursor[class]);
    struct ink_frame *batch;

    if (ink_unlikely(old == INK_STOLEN_CURSOR))
        return NULL;
    batch = ink_bin_take_spare(&cache->bin[class]);
    if (batch == NULL)
        batch = ink_freelist_pop(class);
    return ink_likely(batch != NULL) ? ink_bin_load(cache, class, batch, old) : NULL;
}

/* Starts a frame of the bin's capacity with p alone in it. */
static inline void ink_bin_start(struct ink_cache *cache, unsigned class, struct ink_frame *frame,
                                 void *p)
{
    struct ink_bin *bin = &cache->bin[class];
    unsigned capacity = bin->capacity;

    ink_store_relaxed(&frame->slot[capacity], NULL);
    ink_store_relaxed(&frame->slot[capacity - 1], p);
    bin->loaded = (uint8_t)capacity;
    ink_frame_set_bin(frame);
    ink_store_relaxed(&cache->cursor[class], &frame->slot[capacity - 1]);
    ink_signal_fence();
}

/* Whether the bin keeps a full frame as its spare: it does if it takes as well as gives.  One that
 * has not been refilled since its last overflow keeps none, so that a thread that only frees, or
 * sleeps after it has freed, has one frame at most.  A young bin's are few, and looked at. */
static inline bool ink_bin_keeps_spare(const struct ink_bin *bin)
{
    return bin->refilled || bin->loaded <= INK_BIN_YOUNG;
}

/* The loaded frame is full, and p begins a new one.  The full one becomes the spare if the bin
 * keeps one.  What is left over is the caller's, or NULL: the spare that was there, or the full
 * frame; a bin that keeps none has none then.  At every moment each batch is in one place at most:
 * a child of a fork finds it there or, between places, by its state. */
static inline struct ink_frame *ink_bin_turn_over(struct ink_cache *cache, unsigned class,
                                                  struct ink_frame *full, struct ink_frame *frame,
                                                  void *p)
{
    struct ink_bin *bin = &cache->bin[class];
    bool keep = ink_bin_keeps_spare(bin);

    ink_frame_set_batch(full, class, bin->loaded);
    ink_bin_start(cache, class, frame, p);
    bin->refilled = false;
    return ink_likely(keep) ? ink_exchange_acq_rel(&bin->spare, full) : full;
}

/* Puts p into a full bin that is full-grown, if a frame is at hand; false: nothing has changed.
 * *surplus: a batch that the shared list has no room for, or NULL. */
static inline bool ink_bin_free_batch(struct ink_cache *cache, unsigned class, void *p,
                                      struct ink_frame **surplus)
{
    struct ink_bin *bin = &cache->bin[class];
    ink_slot_t *slot = ink_load_relaxed(&cache->cursor[class]);
    void *top = ink_load_relaxed(slot);
    struct ink_frame *frame;

    *surplus = NULL;
    /* Without a top nothing is loaded, or it is marked. */
    if (((uintptr_t)slot & (INK_FRAME_BYTES - 1)) != 0 || top == NULL || top == p ||
        bin->loaded <= INK_BIN_YOUNG || !bin->grown ||
        (!bin->refilled && ink_load_relaxed(&bin->spare) != NULL))
        return false;
    frame = ink_cache_take_empty(cache);
    if (ink_unlikely(frame == NULL))
        return false;
    *surplus = ink_bin_turn_over(cache, class, ink_frame_of_slot(slot), frame, p);
    if (ink_likely(*surplus != NULL) && ink_likely(ink_freelist_push_below(class, *surplus)))
        *surplus = NULL;
    return true;
}

#endif
