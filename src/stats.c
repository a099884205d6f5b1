/* Sums over chunks, runs, lists and caches. */
#include "stats.h"
#include "chunk.h"
#include "dirty.h"
#include "freelist.h"
#include "head.h"
#include "large_record.h"
#include "meta.h"
#include "run.h"
#include "run_bytes.h"
#include "sizeclass.h"
#include "thread.h"

const char ink_stats_banner[] = "inkalloc " PACKAGE_VERSION ", head " INK_HEAD_NAME "\n";

/* Items in a bin: what is loaded, from the cursor to the end of its row, and the spare. */
static size_t ink_bin_items(struct ink_cache *cache, unsigned class)
{
    ink_slot_t *slot = ink_load_relaxed(&cache->cursor[class]);
    struct ink_frame *spare = ink_load_acquire(&cache->bin[class].spare);
    size_t items = spare != NULL ? ink_frame_items(spare) : 0;

    if (slot == INK_STOLEN_CURSOR)
        slot = (ink_slot_t *)(ink_load_acquire(&cache->claim[class]) & ~(uintptr_t)INK_CLAIM_WON);
    if (slot == INK_NO_CURSOR || slot == NULL)
        return items;
    for (; ((uintptr_t)slot & (INK_FRAME_BYTES - 1)) / sizeof *slot < INK_FRAME_ITEMS_MAX;
         slot++, items++)
        if (ink_load_relaxed(slot) == NULL)
            break;
    return items;
}

static size_t ink_cache_items(struct ink_cache *cache, unsigned class)
{
    return cache != NULL ? ink_bin_items(cache, class) : 0;
}

static size_t ink_cached_items(unsigned class)
{
    size_t items = ink_freelist_items(class);

    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next)
        items += ink_cache_items(&thread->c1, class) +
                 ink_cache_items(ink_load_acquire(&thread->c2), class) +
                 ink_cache_items(ink_load_acquire(&thread->c3), class);
    return items;
}

static void ink_stats_add_ranges(struct ink_stats *stats)
{
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next) {
        stats->mapped +=
            (size_t)__builtin_popcount(ink_load_relaxed(&chunk->owned)) * INK_UNIT_BYTES;
        for (unsigned i = 0; i < INK_CHUNK_UNITS; i++)
            if (ink_run_state(&chunk->run[i]) == INK_RUN_RANGE) {
                stats->live += ink_run_bytes(&chunk->run[i]);
                stats->live_blocks++;
            }
    }
}

static void ink_stats_add_classes(struct ink_stats *stats)
{
    struct ink_run_sum sums[INK_CLASS_SLOTS] = {{0}};

    ink_run_sum(sums);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        size_t size = ink_size_classes[class].size;
        size_t out = sums[class].items - sums[class].free_items;
        size_t cached = ink_cached_items(class);

        cached = cached < out ? cached : out;
        stats->cached += cached * size;
        stats->cached_blocks += cached;
        stats->live += (out - cached) * size;
        stats->live_blocks += out - cached;
        stats->free_blocks += sums[class].free_items;
    }
}

struct ink_stats ink_stats_collect(void)
{
    struct ink_stats stats = {.metadata = ink_meta_mapped_bytes()};
    struct ink_large_sum large = ink_large_sum();

    stats.large = large.bytes;
    stats.large_blocks = large.blocks;
    stats.large_peak = large.bytes_peak;
    stats.large_blocks_peak = large.blocks_peak;
    ink_stats_add_ranges(&stats);
    ink_stats_add_classes(&stats);
    stats.free =
        stats.mapped > stats.live + stats.cached ? stats.mapped - stats.live - stats.cached : 0;
    stats.dirty = ink_chunk_dirty_bytes() + ink_run_dirty_bytes();
    if (stats.dirty > stats.free)
        stats.dirty = stats.free;
    stats.large_kept = ink_dirty_large();
    return stats;
}
