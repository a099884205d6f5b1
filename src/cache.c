/* Bins: refill, overflow, flush. */
#include "cache.h"
#include "bin.h"
#include "die.h"
#include "freelist.h"
#include "run.h"

void ink_row_give(unsigned class, ink_slot_t *slot, struct ink_locker me)
{
    struct ink_frame *frame = ink_frame_of_slot(slot);
    unsigned left = 0;
    void *p;

    slot = ink_run_drain(class, slot, true, me);
    ink_frame_set_idle(frame);
    for (; (p = ink_load_relaxed(slot)) != NULL; slot++)
        ink_store_relaxed(&frame->slot[left++], p);
    if (left == 0) {
        ink_frame_give_empty(frame);
        return;
    }
    ink_frame_set_batch(frame, class, left);
    ink_freelist_push(class, frame, me);
}

static void ink_bin_flush(struct ink_cache *cache, unsigned class, struct ink_locker me)
{
    ink_slot_t *slot = ink_bin_cursor(cache, class);
    struct ink_frame *spare = ink_bin_take_spare(&cache->bin[class]);

    if (spare != NULL)
        ink_freelist_push(class, spare, me);
    ink_store_relaxed(&cache->cursor[class], INK_NO_CURSOR);
    ink_signal_fence();
    if (slot != INK_NO_CURSOR)
        ink_row_give(class, slot, me);
    ink_bin_set_capacity(&cache->bin[class], class, 0);
}

/* What a bin holds is worth a look from here on, in bytes. */
enum { INK_BIN_IDLE_BYTES = 4096, INK_LOOK_EVERY = 8 };

static bool ink_bin_is_worth_giving(const struct ink_bin *bin, unsigned class)
{
    return (size_t)bin->loaded * ink_size_classes[class].size >= INK_BIN_IDLE_BYTES;
}

/* Bins shrink with disuse: now and then one is looked at, in turn, and if its cursor stands where
 * it stood, gives back what it has.  Pairs of malloc and free may deceive; such a bin is left with
 * the little that they need.  Called where items come from runs or go there, which a program that
 * needs no more memory does not do. */
static void ink_cache_look(struct ink_cache *cache, struct ink_locker me)
{
    unsigned class;
    ink_slot_t *slot;

    if (cache->until_look-- != 0)
        return;
    cache->until_look = INK_LOOK_EVERY - 1;
    class = cache->next_look % (INK_CLASS_COUNT - 1) + 1;
    cache->next_look = (uint8_t) class;
    slot = ink_bin_cursor(cache, class);
    if (slot != INK_NO_CURSOR && cache->bin[class].seen == (uint32_t)(uintptr_t)slot &&
        ink_bin_is_worth_giving(&cache->bin[class], class))
        ink_bin_flush(cache, class, me);
    cache->bin[class].seen = (uint32_t)(uintptr_t)slot;
}

/* Small at first, and again when nothing is loaded: the bin was idle, and has lost its frame to a
 * thief. */
static void ink_bin_begin(struct ink_bin *bin, unsigned class, const ink_slot_t *slot)
{
    if (bin->capacity == 0 || slot == INK_NO_CURSOR)
        ink_bin_set_capacity(bin, class, INK_BIN_FIRST_CAPACITY);
}

static struct ink_frame *ink_cache_refill(struct ink_cache *cache, unsigned class,
                                          const ink_slot_t *slot, struct ink_locker me)
{
    struct ink_bin *bin = &cache->bin[class];
    struct ink_frame *frame = ink_cache_take_empty(cache);

    if (frame == NULL)
        return NULL;
    ink_bin_begin(bin, class, slot);
    if (ink_run_refill(class, frame, bin->capacity, me) == 0) {
        ink_cache_keep_empty(cache, frame);
        return NULL;
    }
    return frame;
}

void *ink_cache_alloc(struct ink_cache *cache, unsigned class, struct ink_locker me)
{
    ink_slot_t *slot = ink_bin_cursor(cache, class);
    void *p = ink_load_relaxed(slot);
    struct ink_frame *batch;

    if (p != NULL) {
        ink_store_relaxed(&cache->cursor[class], slot + 1);
        return p;
    }
    p = ink_bin_alloc_batch(cache, class);
    if (p != NULL)
        return p;
    batch = ink_cache_refill(cache, class, slot, me);
    if (batch == NULL)
        return NULL;
    p = ink_bin_load(cache, class, batch, slot);
    ink_bin_grow(&cache->bin[class], class);
    ink_cache_look(cache, me);
    return p;
}

/* Without a frame to be had, p goes straight down.  A lock that cannot be had for long costs the
 * block. */
static void ink_item_drain(unsigned class, void *p, struct ink_locker me)
{
    ink_slot_t row[2];

    atomic_init(&row[0], p);
    atomic_init(&row[1], NULL);
    (void)ink_run_drain(class, row, true, me);
}

void ink_cache_pass_on(struct ink_cache *cache, unsigned class, struct ink_frame *batch,
                       struct ink_locker me)
{
    struct ink_frame *emptied = ink_freelist_push_or_drain(class, batch, me);

    if (emptied == NULL)
        return;
    ink_cache_keep_empty(cache, emptied);
    ink_cache_look(cache, me);
}

/* A young bin's spare is taken in hand first: while others may take it, it must not be looked at.
 * So is that of a bin that keeps none any more. */
static void ink_bin_overflow(struct ink_cache *cache, unsigned class, struct ink_frame *full,
                             void *p, struct ink_locker me)
{
    struct ink_bin *bin = &cache->bin[class];
    bool young = bin->loaded <= INK_BIN_YOUNG;
    struct ink_frame *spare = young || !bin->refilled ? ink_bin_take_spare(bin) : NULL;
    struct ink_frame *frame = ink_cache_take_empty(cache);
    struct ink_frame *old;

    if (young)
        ink_bin_check_young(class, full, spare, p);
    if (bin->capacity == 0) /* what was loaded came from the shared list */
        ink_bin_grow(bin, class);
    if (frame == NULL)
        ink_item_drain(class, p, me);
    old = frame != NULL ? ink_bin_turn_over(cache, class, full, frame, p) : NULL;
    if (old != NULL || spare != NULL) /* its frames have proved too few */
        ink_bin_grow(bin, class);
    if (old != NULL)
        ink_cache_pass_on(cache, class, old, me);
    if (spare != NULL)
        ink_cache_pass_on(cache, class, spare, me);
}

static void ink_bin_first_free(struct ink_cache *cache, unsigned class, void *p,
                               struct ink_locker me)
{
    struct ink_frame *frame = ink_cache_take_empty(cache);

    if (frame == NULL) {
        ink_item_drain(class, p, me);
        return;
    }
    ink_bin_begin(&cache->bin[class], class, INK_NO_CURSOR);
    ink_bin_start(cache, class, frame, p);
}

void ink_cache_free(struct ink_cache *cache, unsigned class, void *p, struct ink_locker me)
{
    ink_slot_t *slot = ink_bin_cursor(cache, class);

    if (slot == INK_NO_CURSOR) {
        ink_bin_first_free(cache, class, p, me);
        return;
    }
    if (ink_load_relaxed(slot) == p)
        ink_die_misuse(INK_FAULT_DOUBLE, "free", p);
    if (((uintptr_t)slot & (INK_FRAME_BYTES - 1)) == 0) {
        ink_bin_overflow(cache, class, ink_frame_of_slot(slot), p, me);
        return;
    }
    ink_store_relaxed(slot - 1, p);
    ink_signal_fence();
    ink_store_relaxed(&cache->cursor[class], slot - 1);
}

void *ink_cache_alloc_single(unsigned class, struct ink_locker me)
{
    struct ink_frame *batch = ink_freelist_pop(class);
    unsigned items;
    void *p;

    if (batch == NULL) {
        batch = ink_frame_take_empty();
        if (batch == NULL)
            return NULL;
        if (ink_run_refill(class, batch, INK_BIN_FIRST_CAPACITY, me) == 0) {
            ink_frame_give_empty(batch);
            return NULL;
        }
    }
    items = ink_frame_items(batch) - 1;
    p = ink_load_relaxed(&batch->slot[items]);
    if (items == 0) {
        ink_frame_give_empty(batch);
        return p;
    }
    ink_frame_set_batch(batch, class, items);
    ink_freelist_push(class, batch, me);
    return p;
}

/* Joins a batch that has room, so that lists do not fill with frames of one item. */
void ink_cache_free_single(unsigned class, void *p, struct ink_locker me)
{
    struct ink_frame *batch = ink_freelist_pop(class);
    struct ink_frame *whole = NULL;
    unsigned items = batch != NULL ? ink_frame_items(batch) : 0;

    if (batch != NULL && items >= ink_size_classes[class].batch_items) {
        whole = batch;
        batch = NULL;
        items = 0;
    }
    if (batch == NULL)
        batch = ink_frame_take_empty();
    if (batch != NULL) {
        ink_store_relaxed(&batch->slot[items], p);
        ink_frame_set_batch(batch, class, items + 1);
    } else {
        ink_item_drain(class, p, me);
    }
    if (whole != NULL)
        ink_freelist_push(class, whole, me);
    if (batch != NULL)
        ink_freelist_push(class, batch, me);
}

void ink_cache_flush(struct ink_cache *cache, struct ink_locker me)
{
    struct ink_frame *frame;

    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        ink_bin_flush(cache, class, me);
    while ((frame = ink_cache_pop_empty(cache)) != NULL)
        ink_frame_give_empty(frame);
}

void ink_cache_drain_spares(struct ink_cache *cache, struct ink_locker me)
{
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        struct ink_frame *spare = ink_bin_take_spare(&cache->bin[class]);

        if (spare != NULL)
            ink_row_give(class, spare->slot, me);
    }
}
