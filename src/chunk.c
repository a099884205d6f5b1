/* Mapping of chunks, advice on huge pages, and runs from masks or fresh memory. */
#include "chunk.h"
#include "die.h"
#include "dirty.h"
#include "options.h"
#include "os.h"

enum {
    /* The first chunks: a small process touches a page here and a page there. */
    INK_CHUNK_SPARSE = 16,
    INK_CHUNK_TRIES = 250, /* about a second */
};

/* Maps a whole chunk, or where that cannot be had (or small is asked for) as few as units units;
 * their number in *got. */
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

/* A chunk of the pool, if the user has asked for that and there is one. */
static char *ink_chunk_map_pooled(bool small)
{
    static_assert((size_t)INK_CHUNK_BYTES == INK_OS_HUGE_PAGE_BYTES, "a chunk is a huge page");
    return ink_options.hugetlb && !small ? ink_os_map_pooled_huge_page() : NULL;
}

/* Huge pages for dense memory: not in the first chunks, where a small process touches a page here
 * and a page there, nor in less than a huge page. */
static void ink_chunk_advise(struct ink_chunk *chunk, unsigned units, size_t mapped)
{
    unsigned thp = ink_options.thp;
    bool huge = units == INK_CHUNK_UNITS && thp != INK_THP_NEVER &&
                (thp == INK_THP_ALWAYS || mapped >= INK_CHUNK_SPARSE * INK_CHUNK_UNITS);

    ink_store_relaxed(&chunk->huge, huge || ink_load_relaxed(&chunk->pooled));
    if (ink_load_relaxed(&chunk->pooled))
        return;
    if (huge)
        ink_os_advise_huge_pages(chunk->base, INK_CHUNK_BYTES);
    else
        ink_os_forbid_huge_pages(chunk->base, (size_t)units * INK_UNIT_BYTES);
}

/* A chunk of fresh memory that nobody else knows yet, in the given record: all units its own, none
 * in the mask.  Takes no lock. */
static bool ink_chunk_map(struct ink_chunk *chunk, unsigned units, unsigned alignment, bool small)
{
    unsigned got = INK_CHUNK_UNITS;
    char *base = ink_chunk_map_pooled(small);

    ink_store_relaxed(&chunk->pooled, base != NULL);
    if (base == NULL)
        base = ink_chunk_map_memory(units, alignment, small, &got);
    if (base == NULL)
        return false;
    if (!ink_owners_open(base, (size_t)got * INK_UNIT_BYTES)) {
        (void)ink_os_unmap(base, (size_t)got * INK_UNIT_BYTES);
        return false;
    }
    ink_window_place(base);
    chunk->base = base;
    ink_chunk_advise(chunk, got, ink_units_add_mapped(got));
    /* In use until they are put into the mask: a repair in between must not find them. */
    ink_units_mark(chunk, ink_units_mask(0, INK_CHUNK_UNITS), INK_RUN_TAKEN);
    ink_store_release(&chunk->owned, ink_units_mask(0, got));
    return true;
}

/* A run of fresh memory, its chunk described by *record (made if NULL, and NULL again once used).
 * small: the lock is not to be had; take no more of the system than the run itself, as the rest
 * could not be given to anyone. */
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
    place = ink_units_place(chunk, owned, units, alignment);
    INK_ASSERT(place >= 0);
    run = ink_units_carve(chunk, (unsigned)place, units);
    run->zeroed = true;
    rest = owned & ~ink_units_mask((unsigned)place, units);
    if (rest != 0)
        ink_units_put(chunk, rest, INK_UNITS_FRESH, me);
    return run;
}

/* One round: from the masks if the lock is to be had, else fresh.  *locked: whether it was. */
static struct ink_run *ink_chunk_take_once(struct ink_chunk **record, unsigned units,
                                           unsigned alignment, bool *locked, struct ink_locker me)
{
    struct ink_run *run = NULL;

    *locked = ink_units_lock(me);
    if (*locked) {
        run = ink_units_search(units, alignment);
        if (run == NULL && *record == NULL)
            *record = ink_chunk_spare_record();
        ink_units_unlock(me);
    }
    return run != NULL ? run : ink_chunk_take_fresh(record, units, alignment, !*locked, me);
}

struct ink_run *ink_chunk_take(unsigned units, unsigned alignment_units, struct ink_locker me)
{
    struct ink_chunk *record = NULL;
    struct ink_run *run = NULL;
    bool locked = false;
    size_t mapped = ink_units_mapped();

    if (ink_unlikely(!ink_dirty_may_take((size_t)units * INK_UNIT_BYTES, ink_chunk_used_bytes())))
        return NULL;
    /* Without fresh memory, the lock is worth a longer wait: there may be free units behind it. */
    for (int tries = 0; run == NULL && !locked && tries < INK_CHUNK_TRIES; tries++) {
        run = ink_chunk_take_once(&record, units, alignment_units, &locked, me);
        if (ink_units_lock_is_beneath(me))
            break;
    }
    if (record != NULL)
        ink_chunk_put_record(record, me);
    if (run == NULL)
        return NULL;
    ink_owners_set(run->base, units, (ink_owner_t)run);
    if (mapped != ink_units_mapped())
        ink_dirty_want_room(INK_ROOM_FROM_ALL);
    else if (run->zeroed)
        ink_dirty_want_room(INK_ROOM_FROM_LARGE);
    return run;
}

void ink_chunk_expect_holes(struct ink_chunk *chunk)
{
    if (!ink_load_relaxed(&chunk->huge))
        return;
    ink_os_forbid_huge_pages(chunk->base, INK_CHUNK_BYTES);
    ink_store_relaxed(&chunk->huge, false);
}

void ink_chunk_change_advice(struct ink_chunk *chunk, uint32_t units)
{
    if (units != ink_load_relaxed(&chunk->owned))
        ink_chunk_expect_holes(chunk);
    else if (units == ink_units_mask(0, INK_CHUNK_UNITS) && !ink_load_relaxed(&chunk->huge))
        ink_chunk_advise(chunk, INK_CHUNK_UNITS, ink_units_mapped());
}

size_t ink_chunk_unmap(struct ink_chunk *chunk, struct ink_locker me)
{
    uint32_t owned = ink_load_relaxed(&chunk->owned);
    size_t bytes = (size_t)__builtin_popcount(owned) * INK_UNIT_BYTES;

    ink_owners_set(chunk->base, bytes / INK_UNIT_BYTES, 0);
    if (!ink_os_unmap(chunk->base, bytes))
        return 0;
    (void)ink_units_add_mapped(0 - bytes / INK_UNIT_BYTES);
    if (ink_load_acquire(&chunk->bitmaps) != NULL && ink_os_page_bytes() <= INK_CHUNK_BITMAP_BYTES)
        (void)ink_os_purge(ink_load_relaxed(&chunk->bitmaps), INK_CHUNK_BITMAP_BYTES);
    ink_store_release(&chunk->owned, 0);
    ink_chunk_put_record(chunk, me);
    return bytes;
}
