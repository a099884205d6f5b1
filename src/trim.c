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

/* Everything that is cached and can be reached goes down to the runs. */
static void ink_trim_caches(const struct ink_turn *turn)
{
    if (turn->cache != NULL)
        ink_cache_flush(turn->cache, turn->me);
    ink_steal_caches(turn->me);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        ink_freelist_drain(class, turn->me);
}

void ink_trim_after_collapse(const struct ink_turn *turn)
{
    static struct ink_lock lock;

    if (ink_lock_try(&lock, turn->me) == INK_LOCK_BUSY)
        return;
    if (ink_run_has_collapsed()) {
        ink_run_lower_mark();
        ink_trim_caches(turn);
        ink_run_purge_down_to(ink_dirty_allowed(ink_run_out_bytes()) / 4, turn->me);
        ink_chunk_purge_excess(turn->me);
        ink_run_lower_mark();
    }
    ink_lock_release(&lock, turn->me);
}

size_t ink_trim(void)
{
    struct ink_turn turn = ink_turn_begin(ink_cache_take());
    size_t bytes;

    ink_trim_caches(&turn);
    ink_run_trim(turn.me);
    bytes = ink_chunk_trim(turn.me) + ink_large_trim();
    ink_run_purge_down_to(0, turn.me);
    ink_run_lower_mark();
    ink_turn_end(&turn);
    return bytes;
}
