/* The answer to a collapse. */
#include "collapse.h"
#include "chunk.h"
#include "dirty.h"
#include "freelist.h"
#include "purge.h"
#include "run_bytes.h"
#include "run_pages.h"
#include "trim.h"

/* Steps 1 .. INK_CLASS_COUNT - 1 drain the list of a class each; then come the pages, a few chunks
 * at a time: the larger the heap the more, so that the answer comes to its end with about
 * INK_COLLAPSE_STEPS slow frees. */
enum {
    INK_COLLAPSE_PAGES = INK_CLASS_COUNT,
    INK_COLLAPSE_WANTED, /* not yet begun */
    INK_COLLAPSE_STEPS = 256
};

_Atomic unsigned ink_collapse_next_step;

/* Of an answer that is under way; written under the lock. */
static struct {
    struct ink_lock lock;
    struct ink_chunk *chunk; /* the one whose pages come next */
    unsigned chunks;         /* a step */
} ink_collapse_course;

static unsigned ink_collapse_begin(const struct ink_turn *turn)
{
    size_t heap = ink_chunk_used_bytes() + ink_chunk_dirty_bytes();

    ink_run_lower_mark();
    ink_freelists_set_narrow(true);
    ink_trim_caches(turn);
    ink_collapse_course.chunk = ink_chunk_first();
    ink_collapse_course.chunks = (unsigned)(heap / INK_CHUNK_BYTES / INK_COLLAPSE_STEPS) + 1;
    return 1;
}

static unsigned ink_collapse_lists(unsigned class, const struct ink_turn *turn)
{
    while (class < INK_CLASS_COUNT && ink_freelist_depth(class) == 0)
        class ++;
    if (class < INK_CLASS_COUNT)
        ink_freelist_drain(class, turn->me);
    return class < INK_CLASS_COUNT ? class + 1 : INK_COLLAPSE_PAGES;
}

static unsigned ink_collapse_end(const struct ink_turn *turn)
{
    ink_freelists_set_narrow(false);
    ink_purge_excess(turn->me);
    ink_run_lower_mark();
    return 0;
}

/* Only chunks with pages to purge take time; the others are gone over. */
static unsigned ink_collapse_pages(const struct ink_turn *turn)
{
    size_t stays = ink_dirty_allowed(ink_run_out_bytes()) / 4;

    for (unsigned left = ink_collapse_course.chunks; left != 0;) {
        struct ink_chunk *chunk = ink_collapse_course.chunk;

        if (chunk == NULL || ink_run_dirty_bytes() <= stays)
            return ink_collapse_end(turn);
        ink_collapse_course.chunk = chunk->next;
        left -= ink_run_purge_pages_of(chunk, turn->me);
    }
    return INK_COLLAPSE_PAGES;
}

void ink_collapse_want(void)
{
    unsigned none = 0;

    (void)ink_cas_relaxed(&ink_collapse_next_step, &none, INK_COLLAPSE_WANTED);
}

void ink_collapse_step(const struct ink_turn *turn)
{
    unsigned step;

    if (ink_lock_try(&ink_collapse_course.lock, turn->me) == INK_LOCK_BUSY)
        return;
    step = ink_load_relaxed(&ink_collapse_next_step);
    if (step == INK_COLLAPSE_WANTED || (step == 0 && ink_run_has_collapsed()))
        step = ink_collapse_begin(turn);
    else if (step == INK_COLLAPSE_PAGES)
        step = ink_collapse_pages(turn);
    else if (step != 0)
        step = ink_collapse_lists(step, turn);
    ink_store_relaxed(&ink_collapse_next_step, step);
    ink_lock_release(&ink_collapse_course.lock, turn->me);
}
