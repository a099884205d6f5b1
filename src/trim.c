/* malloc_trim's work, also done when the system refuses memory. */
#include "trim.h"
#include "cache.h"
#include "cache_fast.h"
#include "chunk.h"
#include "dirty.h"
#include "freelist.h"
#include "large.h"
#include "run.h"
#include "steal.h"
#include "turn.h"

/* What is in caches and can be reached goes down to the runs. */
static void ink_trim_threads(const struct ink_turn *turn)
{
    if (turn->cache != NULL)
        ink_cache_flush(turn->cache, turn->me);
    ink_steal_caches(turn->me);
}

/* ---- after a collapse ---- */

/* Steps 1 .. INK_CLASS_COUNT - 1 drain the list of a class each; then come the pages, a few chunks at a time: the larger the heap the more, so that the answer comes to its
 * end with about INK_TRIM_STEPS slow frees. */
enum { INK_TRIM_PAGES = INK_CLASS_COUNT, INK_TRIM_STEPS = 256 };

_Atomic unsigned ink_trim_next_step;

/* Of an answer that is under way; written under the lock. */
static struct {
    struct ink_lock lock;
    struct ink_chunk *chunk; /* the one whose pages come next */
    unsigned chunks;         /* a step */
} ink_trim_course;

static unsigned ink_trim_begin(const struct ink_turn *turn)
{
    size_t heap = ink_chunk_used_bytes() + ink_chunk_dirty_bytes();

    ink_run_lower_mark();
    ink_freelists_set_narrow(true);
    ink_trim_threads(turn);
    ink_trim_course.chunk = ink_chunk_first();
    ink_trim_course.chunks = (unsigned)(heap / INK_CHUNK_BYTES / INK_TRIM_STEPS) + 1;
    return 1;
}

static unsigned ink_trim_lists(unsigned class, const struct ink_turn *turn)
{
    while (class < INK_CLASS_COUNT && ink_freelist_depth(class) == 0)
        class ++;
    if (class < INK_CLASS_COUNT)
        ink_freelist_drain(class, turn->me);
    return class < INK_CLASS_COUNT ? class + 1 : INK_TRIM_PAGES;
}

static unsigned ink_trim_end(const struct ink_turn *turn)
{
    ink_freelists_set_narrow(false);
    ink_chunk_purge_excess(turn->me);
    ink_run_lower_mark();
    return 0;
}

/* Only chunks with pages to purge take time; the others are gone over. */
static unsigned ink_trim_pages(const struct ink_turn *turn)
{
    size_t stays = ink_dirty_allowed(ink_run_out_bytes()) / 4;

    for (unsigned left = ink_trim_course.chunks; left != 0;) {
        struct ink_chunk *chunk = ink_trim_course.chunk;

        if (chunk == NULL || ink_run_dirty_bytes() <= stays)
            return ink_trim_end(turn);
        ink_trim_course.chunk = chunk->next;
        left -= ink_run_purge_pages_of(chunk, turn->me);
    }
    return INK_TRIM_PAGES;
}

void ink_trim_step(const struct ink_turn *turn)
{
    unsigned step;

    if (ink_lock_try(&ink_trim_course.lock, turn->me) == INK_LOCK_BUSY)
        return;
    step = ink_load_relaxed(&ink_trim_next_step);
    if (step >= INK_TRIM_PAGES)
        step = ink_trim_pages(turn);
    else if (step != 0)
        step = ink_trim_lists(step, turn);
    else if (ink_run_has_collapsed())
        step = ink_trim_begin(turn);
    ink_store_relaxed(&ink_trim_next_step, step);
    ink_lock_release(&ink_trim_course.lock, turn->me);
}

/* ---- all at once ---- */

size_t ink_trim(void)
{
    struct ink_turn turn = ink_turn_begin(ink_cache_take());
    size_t bytes;

    ink_trim_threads(&turn);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        ink_freelist_drain(class, turn.me);
    ink_run_trim(turn.me);
    bytes = ink_chunk_trim(turn.me) + ink_large_trim();
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        (void)ink_run_purge_pages_of(chunk, turn.me);
    ink_run_lower_mark();
    ink_turn_end(&turn);
    return bytes;
}
