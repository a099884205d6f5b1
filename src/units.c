/* Masks of free units: search, taking out and putting back, and their repair. */
#include "units.h"
#include "dirty.h"
#include "meta.h"

enum { INK_UNITS_SEARCH = 16 /* chunks looked at in a bucket for a run of several units */ };

static_assert(sizeof(struct ink_run) <= INK_LINE_BYTES, "a run's record is a line");
static_assert(INK_CHUNK_UNITS == 32, "masks are 32 bits");
static_assert(INK_RUN_WORDS_MAX * 64 * 16 >= INK_UNIT_BYTES, "a unit of the smallest items");

static struct {
    _Alignas(INK_LINE_BYTES) struct ink_lock lock;
    struct ink_buckets buckets; /* chunks with free units, by how many */
    struct ink_chunk *spare;    /* records without a chunk, linked by node.next */
    struct ink_chunk *hand;     /* where the search for dirty units goes on */
    /* Written under the lock, read by anyone. */
    _Atomic size_t free_units;
    _Atomic size_t dirty_units; /* free ones that can be purged */
    /* The fewest of these there were lately; also written by whoever takes it. */
    _Atomic size_t dirty_low;
} ink_units;

static _Atomic(struct ink_chunk *) ink_chunk_list;
static _Atomic size_t ink_chunk_mapped;    /* units that are mapped */
static ink_flag_t ink_chunk_some_returned; /* a run is RETURNED that nobody has merged */

struct ink_chunk *ink_chunk_first(void)
{
    return ink_load_acquire(&ink_chunk_list);
}

size_t ink_units_add_mapped(size_t units)
{
    return ink_add_relaxed(&ink_chunk_mapped, units);
}

size_t ink_units_mapped(void)
{
    return ink_load_relaxed(&ink_chunk_mapped);
}

size_t ink_chunk_dirty_bytes(void)
{
    return ink_load_relaxed(&ink_units.dirty_units) * INK_UNIT_BYTES;
}

size_t ink_chunk_take_dirty_low(void)
{
    size_t low = ink_load_relaxed(&ink_units.dirty_low);
    size_t now = ink_load_relaxed(&ink_units.dirty_units);

    ink_store_relaxed(&ink_units.dirty_low, now);
    return (low < now ? low : now) * INK_UNIT_BYTES;
}

size_t ink_chunk_used_bytes(void)
{
    size_t mapped = ink_load_relaxed(&ink_chunk_mapped);
    size_t free = ink_load_relaxed(&ink_units.free_units);

    return mapped > free ? (mapped - free) * INK_UNIT_BYTES : 0;
}

static unsigned ink_chunk_bucket(uint32_t free)
{
    return free == 0 ? INK_BUCKET_NONE : (unsigned)(__builtin_popcount(free) - 1) / 4;
}

bool ink_chunk_is_whole(const struct ink_chunk *chunk)
{
    return chunk->free != 0 && chunk->free == ink_load_relaxed(&chunk->owned);
}

uint32_t ink_chunk_dirty_units(const struct ink_chunk *chunk)
{
    if (chunk->stuck || (ink_load_relaxed(&chunk->pooled) && !ink_chunk_is_whole(chunk)))
        return 0;
    return chunk->free & ~chunk->clean;
}

static size_t ink_units_count(uint32_t units)
{
    return (size_t)__builtin_popcount(units);
}

/* Every change of a chunk's masks goes through here, so that bucket and sums follow.  Chunk
 * lock. */
static void ink_chunk_set_free(struct ink_chunk *chunk, uint32_t free, uint32_t zero,
                               uint32_t clean, bool stuck)
{
    unsigned bucket = ink_chunk_bucket(free);
    size_t free_units = ink_load_relaxed(&ink_units.free_units) - ink_units_count(chunk->free);
    size_t dirty_units =
        ink_load_relaxed(&ink_units.dirty_units) - ink_units_count(ink_chunk_dirty_units(chunk));

    chunk->free = free;
    chunk->zero = zero;
    chunk->clean = clean;
    chunk->purged &= clean;
    chunk->stuck = stuck;
    ink_store_relaxed(&ink_units.free_units, free_units + ink_units_count(free));
    dirty_units += ink_units_count(ink_chunk_dirty_units(chunk));
    ink_store_relaxed(&ink_units.dirty_units, dirty_units);
    if (dirty_units < ink_load_relaxed(&ink_units.dirty_low))
        ink_store_relaxed(&ink_units.dirty_low, dirty_units);
    ink_buckets_move(&ink_units.buckets, &chunk->node, chunk->bucket, bucket);
    chunk->bucket = (uint8_t)bucket;
}

/* What a lock that was taken over guards, made anew from the states of the runs. */
static void ink_chunks_repair(void)
{
    ink_units.buckets = (struct ink_buckets){.used = 0};
    ink_units.spare = NULL;
    ink_units.hand = NULL;
    ink_store_relaxed(&ink_units.free_units, 0);
    ink_store_relaxed(&ink_units.dirty_units, 0);
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next) {
        uint32_t used = 0;

        for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
            if (ink_run_state(&chunk->run[i]) != INK_RUN_FREE)
                used |= ink_units_mask(i, ink_load_relaxed(&chunk->run[i].units));
        chunk->bucket = INK_BUCKET_NONE;
        chunk->free = 0;
        ink_chunk_set_free(chunk, ink_load_relaxed(&chunk->owned) & ~used, 0, 0, false);
        ink_store_relaxed(&chunk->some_returned, true);
    }
    ink_store_relaxed(&ink_chunk_some_returned, true);
}

/* RETURNED -> FREE.  Chunk lock.  Whoever gave the run back may find that it has been done for
 * him. */
static void ink_run_merge(struct ink_chunk *chunk, struct ink_run *run)
{
    if (ink_run_state(run) != INK_RUN_RETURNED)
        return;
    ink_store_release(&run->state, INK_RUN_FREE);
    ink_chunk_set_free(chunk,
                       chunk->free | ink_units_mask(run->number, ink_load_relaxed(&run->units)),
                       chunk->zero, chunk->clean, chunk->stuck);
}

static void ink_chunks_merge_returned(void)
{
    /* An exchange: whoever set the mark set the chunk's before it. */
    (void)ink_exchange_acq_rel(&ink_chunk_some_returned, false);
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        if (ink_exchange_acq_rel(&chunk->some_returned, false))
            for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
                ink_run_merge(chunk, &chunk->run[i]);
}

/* For those who could not get the lock. */
static void ink_chunk_leave_returned(struct ink_chunk *chunk)
{
    ink_store_release(&chunk->some_returned, true);
    ink_store_release(&ink_chunk_some_returned, true);
}

/* Makes good what was left by an owner that is gone and by those who could not get the lock. */
static bool ink_units_locked(enum ink_lock_answer answer)
{
    if (answer == INK_LOCK_BUSY)
        return false;
    if (ink_unlikely(answer == INK_LOCK_STALE))
        ink_chunks_repair();
    if (ink_unlikely(ink_load_acquire(&ink_chunk_some_returned)))
        ink_chunks_merge_returned();
    return true;
}

bool ink_units_lock(struct ink_locker me)
{
    return ink_units_locked(ink_lock_take(&ink_units.lock, me));
}

void ink_units_unlock(struct ink_locker me)
{
    ink_lock_release(&ink_units.lock, me);
}

bool ink_units_lock_is_beneath(struct ink_locker me)
{
    return ink_lock_is_beneath(&ink_units.lock, me);
}

int ink_units_place(const struct ink_chunk *chunk, uint32_t mask, unsigned units,
                    unsigned alignment)
{
    uintptr_t first_unit = (uintptr_t)chunk->base >> INK_UNIT_SHIFT;

    for (unsigned i = 1; i < units; i++)
        mask &= mask >> 1;
    while (mask != 0) {
        int place = __builtin_ctz(mask);

        if (((first_unit + (unsigned)place) & (alignment - 1)) == 0)
            return place;
        mask &= mask - 1;
    }
    return -1;
}

void ink_units_mark(struct ink_chunk *chunk, uint32_t units, enum ink_run_state state)
{
    for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
        if (units >> i & 1) {
            ink_store_relaxed(&chunk->run[i].units, 1);
            ink_store_release(&chunk->run[i].state, state);
        }
}

struct ink_run *ink_units_carve(struct ink_chunk *chunk, unsigned place, unsigned units)
{
    struct ink_run *run = &chunk->run[place];
    uint32_t mask = ink_units_mask(place, units);

    run->base = chunk->base + (size_t)place * INK_UNIT_BYTES;
    run->bucket = INK_BUCKET_NONE;
    ink_store_relaxed(&run->units, (uint8_t)units);
    ink_store_release(&run->state, INK_RUN_TAKEN);
    ink_units_mark(chunk, mask & ~ink_units_mask(place, 1), INK_RUN_FREE);
    return run;
}

void ink_units_withdraw(struct ink_chunk *chunk, uint32_t units)
{
    ink_units_mark(chunk, units, INK_RUN_TAKEN);
    ink_chunk_set_free(chunk, chunk->free & ~units, chunk->zero & ~units, chunk->clean & ~units,
                       chunk->stuck);
}

void ink_units_put(struct ink_chunk *chunk, uint32_t units, enum ink_units_are are,
                   struct ink_locker me)
{
    uint32_t zeroed = are == INK_UNITS_FRESH || are == INK_UNITS_PURGED ? units : 0;
    uint32_t purged = are == INK_UNITS_PURGED || are == INK_UNITS_LEFT ? units : 0;
    /* Of a fresh chunk on a huge page some is in use, or about to be, and with that all of it has
     * memory. */
    uint32_t clean = are == INK_UNITS_FRESH && !ink_load_relaxed(&chunk->huge) ? units : purged;

    if (!ink_units_lock(me)) {
        ink_units_mark(chunk, units, INK_RUN_RETURNED);
        ink_chunk_leave_returned(chunk);
        return;
    }
    ink_units_mark(chunk, units, INK_RUN_FREE);
    ink_chunk_set_free(chunk, chunk->free | units, chunk->zero | zeroed, chunk->clean | clean,
                       are == INK_UNITS_REFUSED);
    chunk->purged |= purged;
    ink_units_unlock(me);
}

/* Takes units out of the mask, to be used.  On a huge page the others get memory with them. */
static void ink_units_take(struct ink_chunk *chunk, uint32_t mask)
{
    uint32_t touched = ink_load_relaxed(&chunk->huge) ? UINT32_MAX : mask;
    size_t regretted = ink_units_count(chunk->purged & touched) * INK_UNIT_BYTES;

    chunk->run[__builtin_ctz(mask)].zeroed = (chunk->zero & mask) == mask;
    if (regretted != 0)
        ink_dirty_regret(regretted, ink_chunk_used_bytes());
    ink_chunk_set_free(chunk, chunk->free & ~mask, chunk->zero & ~mask, chunk->clean & ~touched,
                       false);
}

struct ink_run *ink_units_search(unsigned units, unsigned alignment)
{
    for (unsigned bucket = (units - 1) / 4; bucket < INK_BUCKETS; bucket++) {
        struct ink_bucket_node *node = ink_units.buckets.first[bucket];

        for (int i = 0; node != NULL && i < INK_UNITS_SEARCH; i++, node = node->next) {
            struct ink_chunk *chunk = (struct ink_chunk *)(void *)node;
            int place = ink_units_place(chunk, chunk->free, units, alignment);

            if (place >= 0) {
                uint32_t mask = ink_units_mask((unsigned)place, units);

                ink_units_take(chunk, mask);
                return ink_units_carve(chunk, (unsigned)place, units);
            }
        }
    }
    return NULL;
}

void ink_chunk_give(struct ink_run *run, struct ink_locker me)
{
    struct ink_chunk *chunk = ink_chunk_of_run(run);

    if (!ink_units_locked(ink_lock_try(&ink_units.lock, me))) {
        ink_chunk_leave_returned(chunk);
        return;
    }
    ink_run_merge(chunk, run);
    ink_units_unlock(me);
}

void ink_chunks_look_for_returned(void)
{
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        ink_chunk_leave_returned(chunk);
}

struct ink_chunk *ink_chunks_find_dirty(bool whole)
{
    struct ink_chunk *start = ink_units.hand != NULL ? ink_units.hand : ink_chunk_first();
    struct ink_chunk *chunk = start;

    if (chunk == NULL)
        return NULL;
    do {
        ink_units.hand = chunk->next;
        if (ink_chunk_dirty_units(chunk) != 0 && (!whole || ink_chunk_is_whole(chunk)))
            return chunk;
        chunk = chunk->next != NULL ? chunk->next : ink_chunk_first();
    } while (chunk != start);
    return NULL;
}

struct ink_chunk *ink_chunk_new_record(void)
{
    struct ink_chunk *chunk = ink_meta_alloc(sizeof *chunk, INK_LINE_BYTES);
    struct ink_chunk *first = ink_chunk_first();

    if (chunk == NULL)
        return NULL;
    for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
        chunk->run[i].number = (uint8_t)i;
    chunk->bucket = INK_BUCKET_NONE;
    do
        chunk->next = first;
    while (!ink_cas_acq_rel(&ink_chunk_list, &first, chunk));
    return chunk;
}

struct ink_chunk *ink_chunk_spare_record(void)
{
    struct ink_chunk *spare = ink_units.spare;

    if (spare != NULL)
        ink_units.spare = (struct ink_chunk *)(void *)spare->node.next;
    return spare;
}

void ink_chunk_put_record(struct ink_chunk *chunk, struct ink_locker me)
{
    if (!ink_units_lock(me))
        return;
    ink_units_mark(chunk, ink_units_mask(0, INK_CHUNK_UNITS), INK_RUN_FREE);
    chunk->node.next = (struct ink_bucket_node *)ink_units.spare;
    ink_units.spare = chunk;
    ink_units_unlock(me);
}
