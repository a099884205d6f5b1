/* Which pages of a run are free, and their purge. */
#include "run_pages.h"
#include "os.h"
#include "run_bytes.h"
#include "run_shard.h"

static_assert(5 * INK_UNIT_BYTES / 4096 / 2 <= INK_OS_RANGES_MAX, "rows of free pages in a run");

static bool ink_run_items_are_free(const struct ink_run *run, unsigned first, unsigned last)
{
    _Atomic uint64_t *words = ink_load_relaxed(&run->words);

    for (unsigned w = first / INK_WORD_BITS; w <= last / INK_WORD_BITS; w++) {
        uint64_t mask = ~(uint64_t)0;

        if (w == first / INK_WORD_BITS)
            mask <<= first % INK_WORD_BITS;
        if (w == last / INK_WORD_BITS)
            mask &= ~(uint64_t)0 >> (INK_WORD_BITS - 1 - last % INK_WORD_BITS);
        if ((ink_load_relaxed(&words[w]) & mask) != mask)
            return false;
    }
    return true;
}

/* Whether nobody has anything in the page at offset.  What lies behind the last item is
 * nobody's. */
static bool ink_run_page_is_free(const struct ink_run *run, size_t offset, size_t page)
{
    unsigned items = ink_load_relaxed(&run->items);
    unsigned first = (unsigned)(offset / run->size);
    unsigned last = (unsigned)((offset + page - 1) / run->size);

    return first >= items || ink_run_items_are_free(run, first, last < items ? last : items - 1);
}

/* Bit n: page n of a unit of the run is free. */
static uint32_t ink_unit_free_pages(const struct ink_run *run, size_t offset, size_t page)
{
    uint32_t free = 0;

    for (unsigned n = 0; n < INK_UNIT_BYTES / page; n++)
        free |= (uint32_t)ink_run_page_is_free(run, offset + n * page, page) << n;
    return free;
}

/* Adds each row of pages to the ranges; their new number. */
static unsigned ink_unit_add_rows(char *unit, uint32_t pages, size_t page,
                                  struct ink_os_range *ranges, unsigned count)
{
    for (unsigned begin = 0, end; pages >> begin != 0; begin = end + 1) {
        for (end = begin; (pages >> end & 1) != 0; end++)
            continue;
        if (end != begin)
            ranges[count++] = (struct ink_os_range){unit + begin * page, (end - begin) * page};
    }
    return count;
}

enum ink_purge { INK_PURGE_NOTHING, INK_PURGE_DONE, INK_PURGE_REFUSED };

/* Purges the free pages of each unit in which they are half: fewer are not worth the call, as they
 * are scattered and the unit is not far from being wholly free.  Under the class lock, system call
 * and all: an item that is handed out meanwhile would lose what is written to it, and who waits for
 * this lock goes on to another shard. */
static enum ink_purge ink_run_purge_pages(struct ink_run *run)
{
    struct ink_os_range ranges[INK_OS_RANGES_MAX];
    size_t page = ink_os_page_bytes();
    unsigned purged = 0, count = 0;

    for (size_t offset = 0; offset < ink_run_bytes(run); offset += INK_UNIT_BYTES) {
        uint32_t pages = ink_unit_free_pages(run, offset, page);

        if ((unsigned)__builtin_popcount(pages) * page * 2 < INK_UNIT_BYTES)
            continue;
        purged += (unsigned)__builtin_popcount(pages);
        count = ink_unit_add_rows(run->base + offset, pages, page, ranges, count);
    }
    if (count == 0)
        return INK_PURGE_NOTHING;
    (void)ink_run_set_purged(run, 0);
    ink_chunk_expect_holes(ink_chunk_of_run(run));
    if (!ink_os_purge_ranges(ranges, count))
        return INK_PURGE_REFUSED;
    (void)ink_run_set_purged(run, purged);
    return INK_PURGE_DONE;
}

/* Whether this class lock guards the run.  In this order: a class that is read here was stored
 * after the run before it had ended, so the state is of this run or a later one; a state CLASS was
 * stored after the shard; and if a run of another class came in between, the second look at the
 * class tells. */
static bool ink_run_is_guarded_by(const struct ink_run *run, unsigned class, unsigned shard)
{
    return ink_load_acquire(&run->class) == class && ink_run_state(run) == INK_RUN_CLASS &&
           ink_load_relaxed(&run->shard) == shard && ink_load_relaxed(&run->class) == class;
}

/* A run is worth it if a page's worth of items was freed since it was last purged. */
static enum ink_purge ink_run_purge(struct ink_run *run, struct ink_locker me)
{
    unsigned class = ink_load_relaxed(&run->class) % INK_CLASS_SLOTS,
             shard = ink_load_relaxed(&run->shard);
    size_t page = ink_os_page_bytes();
    enum ink_purge purge = INK_PURGE_NOTHING;

    if (class >= INK_CLASS_COUNT || shard >= INK_RUN_SHARDS ||
        !ink_run_shard_lock(class, shard, me))
        return purge;
    if (ink_run_is_guarded_by(run, class, shard) && run->free < ink_load_relaxed(&run->items) &&
        (size_t)run->free * run->size >= (run->purged_pages + 1u) * page)
        purge = ink_run_purge_pages(run);
    ink_lock_release(&ink_run_shard_at(class, shard)->lock, me);
    return purge;
}

bool ink_run_purge_pages_of(struct ink_chunk *chunk, struct ink_locker me)
{
    bool purged = false;

    if (ink_load_relaxed(&chunk->pooled))
        return false;
    for (unsigned i = 0; i < INK_CHUNK_UNITS; i++) {
        enum ink_purge purge = INK_PURGE_NOTHING;

        if (ink_run_state(&chunk->run[i]) == INK_RUN_CLASS)
            purge = ink_run_purge(&chunk->run[i], me);
        if (purge == INK_PURGE_REFUSED)
            break; /* locked memory: the chunk is left alone */
        purged = purged || purge == INK_PURGE_DONE;
    }
    return purged;
}
