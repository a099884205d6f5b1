/* Chunks of runs: mapping, masks of free units, purging. */
#include "chunk.h"
#include "die.h"
#include "dirty.h"
#include "meta.h"
#include "options.h"
#include "os.h"

enum {
    INK_CHUNK_SPARSE =
        16, /* the first chunks: a small process touches a page here and a page there */
    INK_CHUNK_SEARCH = 16, /* chunks looked at in a bucket for a run of several units */
    INK_CHUNK_TRIES = 250, /* about a second */
};

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
} ink_chunks;

static _Atomic(struct ink_chunk *) ink_chunk_list;
static _Atomic size_t ink_chunk_mapped;    /* units that are mapped */
static ink_flag_t ink_chunk_some_returned; /* a run is RETURNED that nobody has merged */

struct ink_chunk *ink_chunk_first(void)
{
    return ink_load_acquire(&ink_chunk_list);
}

static uint32_t ink_units_mask(unsigned first, unsigned units)
{
    return (uint32_t)((((uint64_t)1 << units) - 1) << first);
}

static unsigned ink_chunk_bucket(uint32_t free)
{
    return free == 0 ? INK_BUCKET_NONE : (unsigned)(__builtin_popcount(free) - 1) / 4;
}

static size_t ink_chunk_dirty_units(const struct ink_chunk *chunk)
{
    return chunk->stuck ? 0 : (size_t)__builtin_popcount(chunk->free & ~chunk->zero);
}

static bool ink_chunk_is_whole(const struct ink_chunk *chunk)
{
    return chunk->free != 0 && chunk->free == ink_load_relaxed(&chunk->owned);
}

/* Every change of a chunk's masks goes through here, so that bucket and sums follow.  Chunk lock. */
static void ink_chunk_set_free(struct ink_chunk *chunk, uint32_t free, uint32_t zero, bool stuck)
{
    unsigned bucket = ink_chunk_bucket(free);
    size_t free_units =
        ink_load_relaxed(&ink_chunks.free_units) - (size_t)__builtin_popcount(chunk->free);
    size_t dirty_units = ink_load_relaxed(&ink_chunks.dirty_units) - ink_chunk_dirty_units(chunk);

    chunk->free = free;
    chunk->zero = zero;
    chunk->purged &= zero;
    chunk->stuck = stuck;
    ink_store_relaxed(&ink_chunks.free_units, free_units + (size_t)__builtin_popcount(free));
    ink_store_relaxed(&ink_chunks.dirty_units, dirty_units + ink_chunk_dirty_units(chunk));
    ink_buckets_move(&ink_chunks.buckets, &chunk->node, chunk->bucket, bucket);
    chunk->bucket = (uint8_t)bucket;
}

/* What a lock that was taken over guards, made anew from the states of the runs. */
static void ink_chunks_repair(void)
{
    ink_chunks.buckets = (struct ink_buckets){.used = 0};
    ink_chunks.spare = NULL;
    ink_chunks.hand = NULL;
    ink_store_relaxed(&ink_chunks.free_units, 0);
    ink_store_relaxed(&ink_chunks.dirty_units, 0);
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next) {
        uint32_t used = 0;

        for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
            if (ink_run_state(&chunk->run[i]) != INK_RUN_FREE)
                used |= ink_units_mask(i, ink_load_relaxed(&chunk->run[i].units));
        chunk->bucket = INK_BUCKET_NONE;
        chunk->free = 0;
        ink_chunk_set_free(chunk, ink_load_relaxed(&chunk->owned) & ~used, 0, false);
        ink_store_relaxed(&chunk->some_returned, true);
    }
    ink_store_relaxed(&ink_chunk_some_returned, true);
}

/* RETURNED -> FREE.  Chunk lock.  Whoever gave the run back may find that it has been done for him. */
static void ink_run_merge(struct ink_chunk *chunk, struct ink_run *run)
{
    if (ink_run_state(run) != INK_RUN_RETURNED)
        return;
    ink_store_release(&run->state, INK_RUN_FREE);
    ink_chunk_set_free(chunk,
                       chunk->free | ink_units_mask(run->number, ink_load_relaxed(&run->units)),
                       chunk->zero, chunk->stuck);
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
static bool ink_chunks_locked(enum ink_lock_answer answer)
{
    if (answer == INK_LOCK_BUSY)
        return false;
    if (ink_unlikely(answer == INK_LOCK_STALE))
        ink_chunks_repair();
    if (ink_unlikely(ink_load_acquire(&ink_chunk_some_returned)))
        ink_chunks_merge_returned();
    return true;
}

static bool ink_chunks_lock(struct ink_locker me)
{
    return ink_chunks_locked(ink_lock_take(&ink_chunks.lock, me));
}

static void ink_chunks_unlock(struct ink_locker me)
{
    ink_lock_release(&ink_chunks.lock, me);
}

/* The lowest place in mask for a row of units ones that starts at a multiple of alignment units of address, or -1. */
static int ink_chunk_place(const struct ink_chunk *chunk, uint32_t mask, unsigned units,
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

/* Sets the state of single units, each as a run of its own. */
static void ink_units_mark(struct ink_chunk *chunk, uint32_t units, enum ink_run_state state)
{
    for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
        if (units >> i & 1) {
            ink_store_relaxed(&chunk->run[i].units, 1);
            ink_store_release(&chunk->run[i].state, state);
        }
}

/* Makes free units a run; the states of all but its first say FREE.  Chunk lock, or a chunk that nobody else knows. */
static struct ink_run *ink_chunk_carve(struct ink_chunk *chunk, unsigned place, unsigned units)
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

/* Takes units out of the mask for a system call; meanwhile they are in use.  Chunk lock. */
static void ink_units_withdraw(struct ink_chunk *chunk, uint32_t units)
{
    ink_units_mark(chunk, units, INK_RUN_TAKEN);
    ink_chunk_set_free(chunk, chunk->free & ~units, chunk->zero & ~units, chunk->stuck);
}

/* Puts withdrawn units (back) into the mask; those of zeroed are known to read as zero, by a purge or as they are fresh. */
static void ink_units_put(struct ink_chunk *chunk, uint32_t units, uint32_t zeroed, bool purged,
                          struct ink_locker me)
{
    if (!ink_chunks_lock(me)) {
        ink_units_mark(chunk, units, INK_RUN_RETURNED);
        ink_chunk_leave_returned(chunk);
        return;
    }
    ink_units_mark(chunk, units, INK_RUN_FREE);
    ink_chunk_set_free(chunk, chunk->free | units, chunk->zero | zeroed, zeroed == 0);
    chunk->purged |= purged ? zeroed : 0;
    ink_chunks_unlock(me);
}

static struct ink_run *ink_chunks_search(unsigned units, unsigned alignment)
{
    for (unsigned bucket = (units - 1) / 4; bucket < INK_BUCKETS; bucket++) {
        struct ink_bucket_node *node = ink_chunks.buckets.first[bucket];

        for (int i = 0; node != NULL && i < INK_CHUNK_SEARCH; i++, node = node->next) {
            struct ink_chunk *chunk = (struct ink_chunk *)(void *)node;
            int place = ink_chunk_place(chunk, chunk->free, units, alignment);

            if (place >= 0) {
                struct ink_run *run = ink_chunk_carve(chunk, (unsigned)place, units);
                uint32_t mask = ink_units_mask((unsigned)place, units);

                run->zeroed = (chunk->zero & mask) == mask;
                if ((chunk->purged & mask) != 0)
                    ink_dirty_regret((size_t)__builtin_popcount(chunk->purged & mask) *
                                         INK_UNIT_BYTES,
                                     ink_chunk_used_bytes());
                ink_chunk_set_free(chunk, chunk->free & ~mask, chunk->zero & ~mask, false);
                return run;
            }
        }
    }
    return NULL;
}

/* Maps a whole chunk, or where that cannot be had (or small is asked for) as few as units units; their number in *got. */
static char *ink_chunk_map_memory(unsigned units, unsigned alignment, bool small, unsigned *got)
{
    char *base = small ? NULL : ink_os_map_aligned(INK_CHUNK_BYTES, INK_CHUNK_BYTES);

    *got = INK_CHUNK_UNITS;
    if (base == NULL && !small && units < INK_CHUNK_UNITS / 4) {
        *got = INK_CHUNK_UNITS / 4;
        base =
            ink_os_map_aligned((size_t)*got * INK_UNIT_BYTES, (size_t)alignment * INK_UNIT_BYTES);
    }
    if (base == NULL) {
        *got = units;
        base =
            ink_os_map_aligned((size_t)units * INK_UNIT_BYTES, (size_t)alignment * INK_UNIT_BYTES);
    }
    return base;
}

static struct ink_chunk *ink_chunk_new_record(void)
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

/* Huge pages for dense memory: not in the first chunks, where a small process touches a page here and a page there, nor in less than a huge page. */
static void ink_chunk_advise(struct ink_chunk *chunk, unsigned units, size_t mapped)
{
    enum ink_thp thp = ink_options.thp;
    bool huge = units == INK_CHUNK_UNITS && thp != INK_THP_NEVER &&
                (thp == INK_THP_ALWAYS || mapped >= INK_CHUNK_SPARSE * INK_CHUNK_UNITS);

    ink_store_relaxed(&chunk->huge, huge);
    if (huge)
        ink_os_advise_huge_pages(chunk->base, INK_CHUNK_BYTES);
    else
        ink_os_forbid_huge_pages(chunk->base, (size_t)units * INK_UNIT_BYTES);
}

/* A chunk of fresh memory that nobody else knows yet, in the given record: all units its own, none in the mask.  Takes no lock. */
static bool ink_chunk_map(struct ink_chunk *chunk, unsigned units, unsigned alignment, bool small)
{
    unsigned got;
    char *base = ink_chunk_map_memory(units, alignment, small, &got);

    if (base == NULL)
        return false;
    if (!ink_owners_open(base, (size_t)got * INK_UNIT_BYTES)) {
        (void)ink_os_unmap(base, (size_t)got * INK_UNIT_BYTES);
        return false;
    }
    ink_window_place(base);
    chunk->base = base;
    ink_chunk_advise(chunk, got, ink_add_relaxed(&ink_chunk_mapped, got));
    /* In use until they are put into the mask: a repair in between must not find them. */
    ink_units_mark(chunk, ink_units_mask(0, INK_CHUNK_UNITS), INK_RUN_TAKEN);
    ink_store_release(&chunk->owned, ink_units_mask(0, got));
    return true;
}

/* Puts a record by that describes nothing.  Without the lock it is lost. */
static void ink_chunk_put_record(struct ink_chunk *chunk, struct ink_locker me)
{
    if (!ink_chunks_lock(me))
        return;
    ink_units_mark(chunk, ink_units_mask(0, INK_CHUNK_UNITS), INK_RUN_FREE);
    chunk->node.next = (struct ink_bucket_node *)ink_chunks.spare;
    ink_chunks.spare = chunk;
    ink_chunks_unlock(me);
}

/* A run of fresh memory, its chunk described by *record (made if NULL, and NULL again once used).  small: the lock is not to be had; take no more of
 * the system than the run itself, as the rest could not be given to anyone. */
static struct ink_run *ink_chunk_take_fresh(struct ink_chunk **record, unsigned units,
                                            unsigned alignment, bool small, struct ink_locker me)
{
    struct ink_chunk *chunk;
    struct ink_run *run;
    uint32_t owned, rest;
    int place;

    if (*record == NULL)
        *record = ink_chunk_new_record();
    chunk = *record;
    if (chunk == NULL || !ink_chunk_map(chunk, units, alignment, small))
        return NULL;
    *record = NULL;
    owned = ink_load_relaxed(&chunk->owned);
    place = ink_chunk_place(chunk, owned, units, alignment);
    INK_ASSERT(place >= 0);
    run = ink_chunk_carve(chunk, (unsigned)place, units);
    run->zeroed = true;
    rest = owned & ~ink_units_mask((unsigned)place, units);
    if (rest != 0)
        ink_units_put(chunk, rest, rest, false, me);
    return run;
}

/* One round: from the masks if the lock is to be had, else fresh.  *locked: whether it was. */
static struct ink_run *ink_chunk_take_once(struct ink_chunk **record, unsigned units,
                                           unsigned alignment, bool *locked, struct ink_locker me)
{
    struct ink_run *run = NULL;

    *locked = ink_chunks_lock(me);
    if (*locked) {
        run = ink_chunks_search(units, alignment);
        if (run == NULL && *record == NULL && ink_chunks.spare != NULL) {
            *record = ink_chunks.spare;
            ink_chunks.spare = (struct ink_chunk *)(void *)(*record)->node.next;
        }
        ink_chunks_unlock(me);
    }
    return run != NULL ? run : ink_chunk_take_fresh(record, units, alignment, !*locked, me);
}

void ink_chunks_look_for_returned(void)
{
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        ink_chunk_leave_returned(chunk);
}

void ink_chunk_expect_holes(struct ink_chunk *chunk)
{
    if (!ink_load_relaxed(&chunk->huge))
        return;
    ink_os_forbid_huge_pages(chunk->base, INK_CHUNK_BYTES);
    ink_store_relaxed(&chunk->huge, false);
}

/* A chunk that has become wholly free begins anew. */
static void ink_chunk_change_advice(struct ink_chunk *chunk, uint32_t units)
{
    if (units != ink_load_relaxed(&chunk->owned))
        ink_chunk_expect_holes(chunk);
    else if (units == ink_units_mask(0, INK_CHUNK_UNITS) && !ink_load_relaxed(&chunk->huge))
        ink_chunk_advise(chunk, INK_CHUNK_UNITS, ink_load_relaxed(&ink_chunk_mapped));
}

/* The rows of units as ranges of memory; how many. */
static unsigned ink_units_rows(const struct ink_chunk *chunk, uint32_t units,
                               struct ink_os_range ranges[static INK_CHUNK_UNITS])
{
    unsigned count = 0;

    while (units != 0) {
        unsigned first = (unsigned)__builtin_ctz(units);
        uint32_t gap = ~(units >> first);
        unsigned length = gap != 0 ? (unsigned)__builtin_ctz(gap) : INK_CHUNK_UNITS;

        ranges[count++] = (struct ink_os_range){chunk->base + (size_t)first * INK_UNIT_BYTES,
                                                (size_t)length * INK_UNIT_BYTES};
        units &= ~ink_units_mask(first, length);
    }
    return count;
}

/* Purges withdrawn units, and puts them back.  No lock across the system call. */
static size_t ink_units_purge(struct ink_chunk *chunk, uint32_t units, struct ink_locker me)
{
    struct ink_os_range ranges[INK_CHUNK_UNITS];
    unsigned count = ink_units_rows(chunk, units, ranges);
    bool zeroed;

    ink_chunk_change_advice(chunk, units);
    zeroed = ink_os_purge_ranges(ranges, count);
    ink_units_put(chunk, units, zeroed ? units : 0, true, me);
    return zeroed ? (size_t)__builtin_popcount(units) * INK_UNIT_BYTES : 0;
}

void ink_chunk_give(struct ink_run *run, struct ink_locker me)
{
    struct ink_chunk *chunk = ink_chunk_of_run(run);

    if (!ink_chunks_locked(ink_lock_try(&ink_chunks.lock, me))) {
        ink_chunk_leave_returned(chunk);
        return;
    }
    ink_run_merge(chunk, run);
    ink_chunks_unlock(me);
}

/* The next chunk with dirty units, wholly free ones only if whole, from where the last search ended.  Chunk lock. */
static struct ink_chunk *ink_chunks_find_dirty(bool whole)
{
    struct ink_chunk *start = ink_chunks.hand != NULL ? ink_chunks.hand : ink_chunk_first();
    struct ink_chunk *chunk = start;

    if (chunk == NULL)
        return NULL;
    do {
        ink_chunks.hand = chunk->next;
        if (ink_chunk_dirty_units(chunk) != 0 && (!whole || ink_chunk_is_whole(chunk)))
            return chunk;
        chunk = chunk->next != NULL ? chunk->next : ink_chunk_first();
    } while (chunk != start);
    return NULL;
}

/* Purges the dirty units of one chunk; their bytes, 0 if there is none.  *locked: false if the lock is not to be had. */
static size_t ink_chunk_purge_one(bool whole, bool *locked, struct ink_locker me)
{
    struct ink_chunk *chunk;
    uint32_t units = 0;

    *locked = ink_chunks_lock(me);
    if (!*locked)
        return 0;
    chunk = ink_chunks_find_dirty(whole);
    if (chunk != NULL) {
        units = ink_chunk_is_whole(chunk) ? ink_load_relaxed(&chunk->owned)
                                          : chunk->free & ~chunk->zero;
        ink_units_withdraw(chunk, units);
    }
    ink_chunks_unlock(me);
    if (chunk != NULL)
        (void)ink_units_purge(chunk, units, me);
    return (size_t)__builtin_popcount(units) * INK_UNIT_BYTES;
}

size_t ink_chunk_dirty_bytes(void)
{
    return ink_load_relaxed(&ink_chunks.dirty_units) * INK_UNIT_BYTES;
}

size_t ink_chunk_used_bytes(void)
{
    size_t mapped = ink_load_relaxed(&ink_chunk_mapped);
    size_t free = ink_load_relaxed(&ink_chunks.free_units);

    return mapped > free ? (mapped - free) * INK_UNIT_BYTES : 0;
}

/* What is left of allowed beside large blocks that are kept. */
static size_t ink_chunk_share(size_t allowed)
{
    size_t large = ink_dirty_large();

    return allowed > large ? allowed - large : 0;
}

/* No more than there was to do at first: what others free meanwhile is theirs to purge. */
static void ink_chunk_purge_down_to(size_t bytes, struct ink_locker me)
{
    size_t dirty = ink_chunk_dirty_bytes(), left = dirty > bytes ? dirty - bytes : 0, purged;
    bool locked = true;

    for (int whole = 1; whole >= 0 && locked; whole--)
        while (left != 0 && ink_chunk_dirty_bytes() > bytes) {
            purged = ink_chunk_purge_one(whole, &locked, me);
            if (purged == 0)
                break;
            left -= purged < left ? purged : left;
        }
}

void ink_chunk_purge_excess(struct ink_locker me)
{
    if (ink_likely(ink_chunk_dirty_bytes() <=
                   ink_chunk_share(ink_dirty_allowed(ink_chunk_used_bytes()))))
        return;
    ink_dirty_forgive();
    ink_chunk_purge_down_to(ink_chunk_share(ink_dirty_allowed(ink_chunk_used_bytes())) / 4 * 3, me);
}

void ink_chunk_make_room(struct ink_locker me)
{
    ink_chunk_purge_down_to(ink_chunk_share(ink_dirty_allowed_beside(ink_chunk_used_bytes())), me);
}

struct ink_run *ink_chunk_take(unsigned units, unsigned alignment_units, struct ink_locker me)
{
    struct ink_chunk *record = NULL;
    struct ink_run *run = NULL;
    bool locked = false;
    size_t mapped = ink_load_relaxed(&ink_chunk_mapped);

    /* Without fresh memory, the lock is worth a longer wait: there may be free units behind it. */
    for (int tries = 0; run == NULL && !locked && tries < INK_CHUNK_TRIES; tries++) {
        run = ink_chunk_take_once(&record, units, alignment_units, &locked, me);
        if (ink_lock_is_beneath(&ink_chunks.lock, me))
            break;
    }
    if (record != NULL)
        ink_chunk_put_record(record, me);
    if (run == NULL)
        return NULL;
    ink_owners_set(run->base, units, (ink_owner_t)run);
    if (mapped != ink_load_relaxed(&ink_chunk_mapped))
        ink_chunk_make_room(me);
    return run;
}

/* Gives a withdrawn chunk's memory back to the system, and its record up. */
static size_t ink_chunk_unmap(struct ink_chunk *chunk, struct ink_locker me)
{
    uint32_t owned = ink_load_relaxed(&chunk->owned);
    size_t bytes = (size_t)__builtin_popcount(owned) * INK_UNIT_BYTES;

    ink_owners_set(chunk->base, bytes / INK_UNIT_BYTES, 0);
    if (!ink_os_unmap(chunk->base, bytes)) {
        (void)ink_units_purge(chunk, owned, me);
        return 0;
    }
    ink_sub_relaxed(&ink_chunk_mapped, bytes / INK_UNIT_BYTES);
    if (ink_load_acquire(&chunk->bitmaps) != NULL && ink_os_page_bytes() <= INK_CHUNK_BITMAP_BYTES)
        (void)ink_os_purge(ink_load_relaxed(&chunk->bitmaps), INK_CHUNK_BITMAP_BYTES);
    ink_store_release(&chunk->owned, 0);
    ink_chunk_put_record(chunk, me);
    return bytes;
}

/* False if the lock is not to be had. */
static bool ink_chunk_trim_one(struct ink_chunk *chunk, size_t *bytes, struct ink_locker me)
{
    uint32_t owned, units;
    bool whole;

    if (!ink_chunks_lock(me))
        return false;
    owned = ink_load_relaxed(&chunk->owned);
    whole = owned != 0 && chunk->free == owned;
    units = whole ? owned : chunk->free & ~chunk->zero;
    ink_units_withdraw(chunk, units);
    ink_chunks_unlock(me);
    if (units != 0)
        *bytes += whole ? ink_chunk_unmap(chunk, me) : ink_units_purge(chunk, units, me);
    return true;
}

size_t ink_chunk_trim(struct ink_locker me)
{
    size_t bytes = 0;
    struct ink_chunk *chunk = ink_chunk_first();

    while (chunk != NULL && ink_chunk_trim_one(chunk, &bytes, me))
        chunk = chunk->next;
    return bytes;
}
