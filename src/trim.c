/* malloc_trim's work, also done when the system refuses memory. */
#include "trim.h"
#include "cache.h"
#include "cache_fast.h"
#include "chunk.h"
#include "freelist.h"
#include "large_kept.h"
#include "purge.h"
#include "run.h"
#include "run_bytes.h"
#include "run_pages.h"
#include "steal.h"
#include "turn.h"

void ink_trim_caches(const struct ink_turn *turn)
{
    if (turn->cache != NULL)
        ink_cache_flush(turn->cache, turn->me);
    ink_steal_caches(turn->me);
}

size_t ink_trim(void)
{
    struct ink_turn turn = ink_turn_begin(ink_cache_take());
    size_t bytes;

    ink_trim_caches(&turn);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        ink_freelist_drain(class, turn.me);
    ink_run_trim(turn.me);
    bytes = ink_purge_trim(turn.me) + ink_large_trim();
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        (void)ink_run_purge_pages_of(chunk, turn.me);
    ink_run_lower_mark();
    ink_turn_end(&turn);
    return bytes;
}
