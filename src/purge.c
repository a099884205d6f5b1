/* Which free units are purged when, and how. */
#include "purge.h"
#include "chunk.h"
#include "dirty.h"
#include "options.h"
#include "os.h"
#include "units.h"

/* The rows of units as ranges of memory; how many. */
static unsigned ink_purge_rows(const struct ink_chunk *chunk, uint32_t units,
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

static enum ink_units_are ink_purge_ranges(const struct ink_os_range *ranges, unsigned count,
                                           enum ink_purging how)
{
    if (how == INK_PURGING_LAZILY && ink_os_purge_lazily(ranges, count))
        return INK_UNITS_LEFT;
    return ink_os_purge_ranges(ranges, count) ? INK_UNITS_PURGED : INK_UNITS_REFUSED;
}

/* Purges withdrawn units, and puts them back.  No lock across the system call. */
static size_t ink_purge_units(struct ink_chunk *chunk, uint32_t units, enum ink_purging how,
                              struct ink_locker me)
{
    struct ink_os_range ranges[INK_CHUNK_UNITS];
    unsigned count = ink_purge_rows(chunk, units, ranges);
    enum ink_units_are are;

    ink_chunk_change_advice(chunk, units);
    are = ink_purge_ranges(ranges, count, how);
    ink_units_put(chunk, units, are, me);
    return are != INK_UNITS_REFUSED ? (size_t)__builtin_popcount(units) * INK_UNIT_BYTES : 0;
}

/* A page of the pool goes back as a mapping: once purged it might not be there when it is touched
 * again. */
static void ink_purge_pooled(struct ink_chunk *chunk, uint32_t units, struct ink_locker me)
{
    if (ink_chunk_unmap(chunk, me) == 0)
        ink_units_put(chunk, units, INK_UNITS_REFUSED, me);
}

/* Purges the dirty units of one chunk; their bytes, 0 if there is none.  *locked: false if the lock
 * is not to be had. */
static size_t ink_purge_one(bool whole, bool *locked, struct ink_locker me)
{
    struct ink_chunk *chunk;
    uint32_t units = 0;

    *locked = ink_units_lock(me);
    if (!*locked)
        return 0;
    chunk = ink_chunks_find_dirty(whole);
    if (chunk != NULL) {
        units = ink_chunk_is_whole(chunk) ? ink_load_relaxed(&chunk->owned)
                                          : ink_chunk_dirty_units(chunk);
        ink_units_withdraw(chunk, units);
    }
    ink_units_unlock(me);
    if (chunk != NULL && ink_load_relaxed(&chunk->pooled))
        ink_purge_pooled(chunk, units, me);
    else if (chunk != NULL)
        (void)ink_purge_units(chunk, units, (enum ink_purging)ink_options.purge, me);
    return (size_t)__builtin_popcount(units) * INK_UNIT_BYTES;
}

/* What is left of allowed beside large blocks that are kept. */
static size_t ink_purge_share(size_t allowed)
{
    size_t large = ink_dirty_large();

    return allowed > large ? allowed - large : 0;
}

void ink_purge_down_to(size_t bytes, struct ink_locker me)
{
    size_t dirty = ink_chunk_dirty_bytes(), left = dirty > bytes ? dirty - bytes : 0, purged;
    bool locked = true;

    for (int whole = 1; whole >= 0 && locked; whole--)
        while (left != 0 && ink_chunk_dirty_bytes() > bytes) {
            purged = ink_purge_one(whole, &locked, me);
            if (purged == 0)
                break;
            left -= purged < left ? purged : left;
        }
}

void ink_purge_excess(struct ink_locker me)
{
    if (ink_likely(ink_chunk_dirty_bytes() <=
                   ink_purge_share(ink_dirty_allowed(ink_chunk_used_bytes()))))
        return;
    ink_dirty_forgive();
    ink_purge_down_to(ink_purge_share(ink_dirty_allowed(ink_chunk_used_bytes())) / 4 * 3, me);
}

void ink_purge_make_room(struct ink_locker me)
{
    ink_purge_down_to(ink_purge_share(ink_dirty_allowed_beside(ink_chunk_used_bytes())), me);
}

/* What is to go when all is to go: what is dirty, and what was only left to the system. */
static uint32_t ink_purge_trimmable(const struct ink_chunk *chunk, bool whole)
{
    if (whole)
        return ink_load_relaxed(&chunk->owned);
    return ink_load_relaxed(&chunk->pooled) ? 0 : chunk->free & ~(chunk->clean & chunk->zero);
}

/* False if the lock is not to be had. */
static bool ink_purge_trim_one(struct ink_chunk *chunk, size_t *bytes, struct ink_locker me)
{
    uint32_t owned, units;
    bool whole;

    if (!ink_units_lock(me))
        return false;
    owned = ink_load_relaxed(&chunk->owned);
    whole = owned != 0 && chunk->free == owned;
    units = ink_purge_trimmable(chunk, whole);
    ink_units_withdraw(chunk, units);
    ink_units_unlock(me);
    if (whole) {
        size_t unmapped = ink_chunk_unmap(chunk, me);

        *bytes += unmapped;
        if (unmapped == 0 && ink_load_relaxed(&chunk->pooled))
            ink_units_put(chunk, units, INK_UNITS_REFUSED, me);
        else if (unmapped == 0)
            (void)ink_purge_units(chunk, units, INK_PURGING_NOW, me);
    } else if (units != 0) {
        *bytes += ink_purge_units(chunk, units, INK_PURGING_NOW, me);
    }
    return true;
}

size_t ink_purge_trim(struct ink_locker me)
{
    size_t bytes = 0;
    struct ink_chunk *chunk = ink_chunk_first();

    while (chunk != NULL && ink_purge_trim_one(chunk, &bytes, me))
        chunk = chunk->next;
    return bytes;
}
