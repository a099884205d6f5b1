/* The unusual parts of a bin's life: growing, loading a short batch, checking a young bin item by
 * item. */
#include "bin.h"
#include "die.h"
#include "run.h"

/* Items of a full-grown frame: the class's, or fewer when there are many threads, so that what all
 * bins can hold grows no further with their number. */
static unsigned ink_bin_most(unsigned class)
{
    unsigned most = ink_size_classes[class].batch_items;

    for (unsigned threads = ink_thread_live_count(); threads > INK_BIN_THREADS && most > 3;
         threads /= 2)
        most /= 2;
    return most;
}

void ink_bin_set_capacity(struct ink_bin *bin, unsigned class, unsigned capacity)
{
    unsigned most = ink_bin_most(class);

    bin->grown = capacity >= most;
    bin->capacity = (uint8_t)(bin->grown ? most : capacity);
}

void ink_bin_grow(struct ink_bin *bin, unsigned class)
{
    ink_bin_set_capacity(bin, class,
                         bin->capacity == 0 ? INK_BIN_FIRST_CAPACITY : 2u * bin->capacity);
}

INK_COLD ink_slot_t *ink_bin_settle_claim(struct ink_cache *cache, unsigned class)
{
    uintptr_t claim = ink_load_acquire(&cache->claim[class]);
    ink_slot_t *slot = INK_NO_CURSOR;

    if (claim != 0 && (claim & INK_CLAIM_WON) == 0 &&
        ink_cas_acq_rel(&cache->claim[class], &claim, 0))
        slot = (ink_slot_t *)claim;
    /* Nobody else can have stored anything but NO_CURSOR over the mark. */
    ink_store_relaxed(&cache->cursor[class], slot);
    return slot;
}

/* Moves a short row to the end of the room that the bin gives it, so that frees find room too.
 * IDLE meanwhile: a child of a fork must not find an item twice. */
void *ink_bin_load_short(struct ink_cache *cache, unsigned class, struct ink_frame *batch,
                         ink_slot_t *old)
{
    struct ink_bin *bin = &cache->bin[class];
    unsigned items = ink_frame_items(batch);
    unsigned capacity = bin->capacity;

    ink_frame_set_idle(batch);
    for (unsigned i = 0; i <= items; i++)
        ink_store_relaxed(&batch->slot[capacity - i], ink_load_relaxed(&batch->slot[items - i]));
    ink_frame_set_bin(batch);
    bin->loaded = (uint8_t)capacity;
    bin->refilled = true;
    ink_store_relaxed(&cache->cursor[class], &batch->slot[capacity - items + 1]);
    ink_signal_fence();
    if (old != INK_NO_CURSOR)
        ink_cache_keep_empty(cache, ink_frame_of_slot(old));
    return ink_load_relaxed(&batch->slot[capacity - items]);
}

/* Dies if p stands in the row. */
static void ink_row_check_absent(ink_slot_t *slot, const void *p)
{
    void *q;

    for (; (q = ink_load_relaxed(slot)) != NULL; slot++)
        if (ink_unlikely(p == q))
            ink_die_misuse(INK_FAULT_DOUBLE, "free", p);
}

static void ink_item_check(unsigned class, const void *p)
{
    const struct ink_run *run = ink_run_find(p);
    const char *fault = ink_run_fault(run, class, p);

    if (fault == NULL && ink_run_item_is_free(run, p))
        fault = INK_FAULT_DOUBLE;
    if (ink_unlikely(fault != NULL))
        ink_die_misuse(fault, "free", p);
}

void ink_bin_check_young(unsigned class, const struct ink_frame *full,
                         const struct ink_frame *spare, const void *p)
{
    ink_slot_t *slot = (ink_slot_t *)full->slot;
    void *q;

    ink_item_check(class, p);
    ink_row_check_absent(slot, p);
    if (spare != NULL)
        ink_row_check_absent((ink_slot_t *)spare->slot, p);
    for (; (q = ink_load_relaxed(slot)) != NULL; slot++) {
        ink_item_check(class, q);
        ink_row_check_absent(slot + 1, q);
        if (spare != NULL)
            ink_row_check_absent((ink_slot_t *)spare->slot, q);
    }
}
