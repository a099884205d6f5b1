/* Runs of one size class: bitmaps, occupancy buckets, refill and drain. */
#include "run.h"
#include "die.h"
#include "dirty.h"
#include "meta.h"
#include "os.h"
#include "purge.h"
#include "run_bytes.h"
#include "run_shard.h"

static_assert(INK_SMALL_MAX <= UINT16_MAX, "a run's record holds the size of an item");
/* Moves up to wanted items of run to the frame, behind the items that it holds already.  The frame
 * says BATCH with each item in it before the bit that frees it is cleared, so that a child of a
 * fork in between finds every item exactly once. */
static unsigned ink_run_take_items(struct ink_run *run, struct ink_frame *frame, unsigned held,
                                   unsigned wanted)
{
    unsigned class = ink_load_relaxed(&run->class);
    unsigned count = ink_run_words(run);
    _Atomic uint64_t *words = ink_load_relaxed(&run->words);

    if (ink_unlikely(run->purged_pages != 0))
        ink_dirty_regret(ink_run_set_purged(run, 0), ink_chunk_used_bytes());
    for (unsigned w = 0; w < count && held < wanted; w++) {
        uint64_t bits = ink_load_relaxed(&words[w]);
        unsigned before = held;

        if (bits == 0)
            continue;
        for (; bits != 0 && held < wanted; bits &= bits - 1) {
            size_t item = w * INK_WORD_BITS + (unsigned)__builtin_ctzll(bits);

            ink_store_relaxed(&frame->slot[held++], run->base + item * run->size);
        }
        ink_frame_set_batch(frame, class, held);
        ink_store_relaxed(&words[w], bits);
        ink_signal_fence();
        run->free = (uint16_t)(run->free - (held - before));
    }
    return held;
}

static unsigned ink_run_refill_shard(struct ink_run_shard *shard, struct ink_frame *frame,
                                     unsigned wanted)
{
    unsigned held = 0;
    size_t size = 0;

    while (held < wanted) {
        struct ink_run *run = (struct ink_run *)ink_buckets_fullest(&shard->buckets);

        if (run == NULL)
            break;
        held = ink_run_take_items(run, frame, held, wanted);
        ink_run_rebucket(shard, run);
        size = run->size;
    }
    ink_run_shard_count_out(shard, (ptrdiff_t)(held * size));
    return held;
}

/* The chunk's room for bitmaps; NULL: no memory.  Of two that are made at once one is lost, and was
 * never touched. */
static _Atomic uint64_t *ink_chunk_bitmaps(struct ink_chunk *chunk)
{
    _Atomic uint64_t *there = ink_load_acquire(&chunk->bitmaps), *fresh;

    if (there != NULL)
        return there;
    fresh = ink_meta_alloc(INK_CHUNK_BITMAP_BYTES, ink_os_page_bytes());
    if (fresh == NULL || ink_cas_acq_rel(&chunk->bitmaps, &there, fresh))
        return fresh;
    return there;
}

/* Room for the bitmap of a run that is being made; NULL: no memory. */
static _Atomic uint64_t *ink_run_bitmap(struct ink_run *run, unsigned words)
{
    _Atomic uint64_t *bitmaps;

    if (words <= INK_RUN_INLINE_WORDS)
        return run->inline_words;
    bitmaps = ink_chunk_bitmaps(ink_chunk_of_run(run));
    return bitmaps != NULL ? &bitmaps[run->number * INK_RUN_WORDS_MAX] : NULL;
}

static bool ink_run_make_bitmap(struct ink_run *run, unsigned items)
{
    unsigned count = (items + INK_WORD_BITS - 1) / INK_WORD_BITS;
    _Atomic uint64_t *words = ink_run_bitmap(run, count);

    if (words == NULL)
        return false;
    for (unsigned w = 0; w < count; w++) {
        unsigned bits = items - w * INK_WORD_BITS;

        ink_store_relaxed(&words[w],
                          bits >= INK_WORD_BITS ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1);
    }
    /* No items while the one changes and the other does not: statistics look at any time. */
    ink_store_release(&run->items, 0);
    ink_store_release(&run->words, words);
    ink_store_release(&run->items, (uint16_t)items);
    return true;
}

/* A run of class with all its items free, known to nobody and in no bucket; NULL: no memory.  State
 * and shard are written by the caller: what a repair finds in state CLASS is complete. */
static struct ink_run *ink_run_make(unsigned class, struct ink_locker me)
{
    const struct ink_size_class *sizes = &ink_size_classes[class];
    struct ink_run *run = ink_chunk_take(sizes->run_units, 1, me);

    if (run == NULL)
        return NULL;
    run->size = (uint16_t)sizes->size;
    run->inverse = sizes->inverse;
    run->free = sizes->run_items;
    run->bucket = INK_BUCKET_NONE;
    ink_store_release(&run->class, (uint8_t) class); /* see ink_run_is_guarded_by */
    if (!ink_run_make_bitmap(run, sizes->run_items)) {
        ink_store_release(&run->state, INK_RUN_RETURNED);
        ink_chunk_give(run, me);
        return NULL;
    }
    return run;
}

/* Fills the frame from a fresh run.  Items are taken before anybody else knows the run; what it has
 * left is offered if a shard's lock can be had, and else with the run's first drain. */
static unsigned ink_run_refill_fresh(unsigned class, struct ink_frame *frame, unsigned wanted,
                                     struct ink_locker me)
{
    struct ink_run *run = ink_run_make(class, me);
    unsigned held;
    int number;

    if (run == NULL)
        return 0;
    run->purged_pages = 0;
    ink_run_add_bytes(class, ink_run_bytes(run));
    held = ink_run_take_items(run, frame, 0, wanted);
    ink_window_set_class(run->base, ink_load_relaxed(&run->units), class);
    number = ink_run_shard_lock_any(class, me);
    ink_store_relaxed(&run->shard, (uint8_t)(number >= 0 ? number : 0));
    run->next_step = (uint16_t)(run->free + 1);
    ink_store_release(&run->state, INK_RUN_CLASS);
    if (number >= 0) {
        struct ink_run_shard *shard = ink_run_shard_at(class, (unsigned)number);

        ink_run_rebucket(shard, run);
        ink_run_shard_count_out(shard, (ptrdiff_t)held * run->size);
        ink_lock_release(&shard->lock, me);
    } else {
        ink_run_add_out((ptrdiff_t)held * run->size);
    }
    return held;
}

/* From the shards whose turn it is not: after a lock could not be had for long, free items are left
 * behind there. */
static unsigned ink_run_refill_elsewhere(unsigned class, struct ink_frame *frame, unsigned wanted,
                                         int except, struct ink_locker me)
{
    unsigned held = 0;

    for (int number = 0; number < INK_RUN_SHARDS && held == 0; number++) {
        struct ink_run_shard *shard = ink_run_shard_at(class, (unsigned)number);

        if (number == except || !ink_run_shard_try(class, (unsigned)number, me))
            continue;
        held = ink_run_refill_shard(shard, frame, wanted);
        ink_lock_release(&shard->lock, me);
    }
    return held;
}

unsigned ink_run_refill(unsigned class, struct ink_frame *frame, unsigned wanted,
                        struct ink_locker me)
{
    int number = ink_run_shard_lock_any(class, me);
    unsigned held = 0;

    if (number >= 0) {
        struct ink_run_shard *shard = ink_run_shard_at(class, (unsigned)number);

        held = ink_run_refill_shard(shard, frame, wanted);
        ink_lock_release(&shard->lock, me);
    }
    if (held == 0)
        held = ink_run_refill_elsewhere(class, frame, wanted, number, me);
    return held != 0 ? held : ink_run_refill_fresh(class, frame, wanted, me);
}

/* ink_run_fault, and the item's number if there is no fault. */
static INK_ALWAYS_INLINE const char *ink_item_fault(const struct ink_run *run, unsigned class,
                                                    const void *p, uint32_t *item)
{
    uint32_t offset = (uint32_t)((const char *)p - run->base);

    /* The batch knew its items as of this class: the run they came from has emptied since, so one
     * of them was freed twice. */
    if (ink_unlikely(ink_run_state(run) != INK_RUN_CLASS) ||
        ink_unlikely(ink_load_relaxed(&run->class) != class))
        return INK_FAULT_DOUBLE;
    *item = ink_class_item(offset, run->inverse);
    return ink_likely(*item < ink_load_relaxed(&run->items)) &&
                   ink_likely(*item * run->size == offset)
               ? NULL
               : INK_FAULT_INTERIOR;
}

const char *ink_run_fault(const struct ink_run *run, unsigned class, const void *p)
{
    uint32_t item;

    return run != NULL ? ink_item_fault(run, class, p, &item) : INK_FAULT_FOREIGN;
}

/* The shard that is locked while a row is drained; items of several may be in it. */
struct ink_drain {
    unsigned class;
    int number; /* of the shard; -1: none */
    struct ink_run_shard *shard;
    unsigned put; /* items since it was locked */
    bool wait;
    bool retired; /* a run was given back */
    struct ink_locker me;
};

static void ink_drain_unlock(struct ink_drain *drain)
{
    if (drain->number >= 0) {
        ink_run_shard_count_out(
            drain->shard, -(ptrdiff_t)(drain->put * (size_t)ink_size_classes[drain->class].size));
        ink_lock_release(&drain->shard->lock, drain->me);
    }
    drain->number = -1;
    drain->put = 0;
}

static INK_NOINLINE bool ink_drain_lock(struct ink_drain *drain, unsigned number)
{
    ink_drain_unlock(drain);
    if (!(drain->wait ? ink_run_shard_lock : ink_run_shard_try)(drain->class, number, drain->me))
        return false;
    drain->number = (int)number;
    drain->shard = ink_run_shard_at(drain->class, number);
    return true;
}

/* A run that has become wholly free goes back, unless it is the only one of the shard with anything
 * free. */
static void ink_run_retire(struct ink_run_shard *shard, struct ink_run *run, struct ink_locker me)
{
    ink_buckets_move(&shard->buckets, &run->node, run->bucket, INK_BUCKET_NONE);
    run->bucket = INK_BUCKET_NONE;
    (void)ink_run_set_purged(run, 0);
    ink_run_add_bytes(ink_load_relaxed(&run->class), 0 - ink_run_bytes(run));
    ink_window_set_class(run->base, ink_load_relaxed(&run->units), INK_CLASS_NONE);
    ink_store_release(&run->state, INK_RUN_RETURNED);
    ink_chunk_give(run, me);
}

static bool ink_run_is_last(const struct ink_run_shard *shard, const struct ink_run *run)
{
    return shard->buckets.used == 1u << run->bucket &&
           shard->buckets.first[run->bucket] == &run->node && run->node.next == NULL;
}

/* What putting an item back needs, gathered for a whole row before the lock is taken. */
struct ink_drain_item {
    struct ink_run *run;
    _Atomic uint64_t *word;
    uint64_t bit;
};

/* Items of one row are all over the heap, and one cache miss after the other would cost more than
 * the rest of a drain: first all runs' records are asked for, then, when they are there, all words.
 * Dies if something in the row is no item of class. */
static unsigned ink_drain_gather(unsigned class, ink_slot_t *slot,
                                 struct ink_drain_item items[static INK_FRAME_ITEMS_MAX])
{
    const struct ink_leaf *leaf = NULL;
    unsigned count = 0;
    const char *p;

    for (; (p = ink_load_relaxed(&slot[count])) != NULL; count++) {
        ink_owner_t owner = ink_owner_of_next(p, &leaf);

        if (ink_unlikely(owner == 0) || ink_unlikely((owner & 1) != 0))
            ink_die_misuse(INK_FAULT_FOREIGN, "free", p);
        items[count].run = (struct ink_run *)owner;
        __builtin_prefetch(items[count].run, 1);
    }
    for (unsigned i = 0; i < count; i++) {
        struct ink_run *run = items[i].run;
        const char *fault;
        uint32_t item;

        p = ink_load_relaxed(&slot[i]);
        fault = ink_item_fault(run, class, p, &item);
        if (ink_unlikely(fault != NULL))
            ink_die_misuse(fault, "free", p);
        items[i].word = &ink_load_relaxed(&run->words)[item / INK_WORD_BITS];
        items[i].bit = (uint64_t)1 << item % INK_WORD_BITS;
        __builtin_prefetch(items[i].word, 1);
    }
    return count;
}

/* True if the run is wholly free now and should go. */
static INK_ALWAYS_INLINE bool ink_drain_put(struct ink_run_shard *shard,
                                            const struct ink_drain_item *item, ink_slot_t *slot)
{
    struct ink_run *run = item->run;
    uint64_t bits = ink_load_relaxed(item->word);

    if (ink_unlikely((bits & item->bit) != 0))
        ink_die_misuse(INK_FAULT_DOUBLE, "free", ink_load_relaxed(slot));
    ink_store_relaxed(item->word, bits | item->bit);
    ink_signal_fence();
    ink_store_relaxed(slot, NULL);
    if (ink_likely(++run->free != run->next_step))
        return false;
    ink_run_rebucket(shard, run);
    return run->free == ink_load_relaxed(&run->items) && !ink_run_is_last(shard, run);
}

ink_slot_t *ink_run_drain(unsigned class, ink_slot_t *slot, bool wait, struct ink_locker me)
{
    struct ink_drain drain = {.class = class, .number = -1, .wait = wait, .me = me};
    struct ink_drain_item items[INK_FRAME_ITEMS_MAX];
    unsigned count = ink_drain_gather(class, slot, items), i;

    for (i = 0; i < count; i++) {
        struct ink_run *run = items[i].run;
        unsigned shard = ink_load_relaxed(&run->shard);

        if (ink_unlikely(drain.number != (int)shard) && !ink_drain_lock(&drain, shard))
            break;
        /* A run of this very row has gone: was it the run of an item that stands in the row
         * twice? */
        if (ink_unlikely(drain.retired) &&
            ink_run_fault(run, class, ink_load_relaxed(&slot[i])) != NULL)
            ink_die_misuse(INK_FAULT_DOUBLE, "free", ink_load_relaxed(&slot[i]));
        drain.put++;
        if (ink_unlikely(ink_drain_put(drain.shard, &items[i], &slot[i]))) {
            ink_run_retire(drain.shard, run, me);
            drain.retired = true;
        }
    }
    ink_drain_unlock(&drain);
    if (drain.retired)
        ink_purge_excess(me);
    return &slot[i];
}

bool ink_run_item_is_free(const struct ink_run *run, const void *p)
{
    uint32_t item = ink_class_item((uint32_t)((const char *)p - run->base), run->inverse);

    return ink_load_relaxed(&ink_load_relaxed(&run->words)[item / INK_WORD_BITS]) >>
               item % INK_WORD_BITS &
           1;
}

static void ink_run_trim_shard(struct ink_run_shard *shard, struct ink_locker me)
{
    for (unsigned bucket = 0; bucket < INK_BUCKETS; bucket++) {
        struct ink_bucket_node *node = shard->buckets.first[bucket];

        while (node != NULL) {
            struct ink_run *run = (struct ink_run *)node;

            node = node->next;
            if (run->free == ink_load_relaxed(&run->items))
                ink_run_retire(shard, run, me);
        }
    }
}

void ink_run_trim(struct ink_locker me)
{
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        for (unsigned s = 0; s < INK_RUN_SHARDS; s++) {
            struct ink_run_shard *shard = ink_run_shard_at(class, s);

            if (!ink_run_shard_lock(class, s, me))
                continue;
            ink_run_trim_shard(shard, me);
            ink_run_shard_publish_out(shard);
            ink_lock_release(&shard->lock, me);
        }
}

void ink_run_sum(struct ink_run_sum sums[static INK_CLASS_SLOTS])
{
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        for (unsigned i = 0; i < INK_CHUNK_UNITS; i++) {
            struct ink_run *run = &chunk->run[i];
            struct ink_run_sum *sum = &sums[ink_load_relaxed(&run->class) % INK_CLASS_SLOTS];

            if (ink_run_state(run) != INK_RUN_CLASS)
                continue;
            sum->runs++;
            sum->bytes += ink_run_bytes(run);
            sum->items += ink_load_relaxed(&run->items);
            sum->free_items += ink_run_count_free(run);
        }
}
