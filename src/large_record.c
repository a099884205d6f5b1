/* Records by number, the spare ones, and the counts. */
#include "large_record.h"
#include "dirty.h"
#include "meta.h"

enum { INK_LARGE_BLOCK_RECORDS = 64, INK_LARGE_BLOCKS = 16384 };

/* number -> record, in blocks.  Published by release; never removed. */
static _Atomic(struct ink_large *) ink_large_blocks[INK_LARGE_BLOCKS];
static _Atomic uint32_t ink_large_block_count;
static struct ink_head ink_large_spares; /* records without a block */

static _Atomic size_t ink_large_live_blocks, ink_large_peak_blocks, ink_large_peak_bytes;

static struct ink_large *ink_large_at(uint32_t number)
{
    return &ink_load_acquire(
        &ink_large_blocks[(number - 1) / INK_LARGE_BLOCK_RECORDS])[(number - 1) %
                                                                   INK_LARGE_BLOCK_RECORDS];
}

void ink_large_push(struct ink_head *head, struct ink_large *large)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(head);

    do {
        ink_store_relaxed(&large->link, ink_head_top_index(snapshot));
        INK_BETWEEN();
    } while (!ink_head_commit_push(head, &snapshot, large->number));
}

struct ink_large *ink_large_pop(struct ink_head *head)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(head);
    struct ink_large *large;
    uint32_t next;

    do {
        if (ink_head_top_index(snapshot) == 0)
            return NULL;
        large = ink_large_at(ink_head_top_index(snapshot));
        next = ink_load_relaxed(&large->link);
        INK_BETWEEN();
    } while (!ink_head_commit_pop(head, &snapshot, next));
    return large;
}

static INK_COLD bool ink_large_add_records(void)
{
    struct ink_large *block =
        ink_meta_alloc(INK_LARGE_BLOCK_RECORDS * sizeof *block, INK_LINE_BYTES);
    uint32_t number;

    if (block == NULL || ink_load_relaxed(&ink_large_block_count) >= INK_LARGE_BLOCKS)
        return false;
    number = ink_add_relaxed(&ink_large_block_count, 1);
    if (number >= INK_LARGE_BLOCKS)
        return false;
    for (uint32_t i = 0; i < INK_LARGE_BLOCK_RECORDS; i++)
        block[i].number = number * INK_LARGE_BLOCK_RECORDS + i + 1;
    ink_store_release(&ink_large_blocks[number], block);
    for (uint32_t i = 0; i < INK_LARGE_BLOCK_RECORDS; i++)
        ink_large_push(&ink_large_spares, &block[i]);
    return true;
}

struct ink_large *ink_large_take_record(void)
{
    struct ink_large *large = ink_large_pop(&ink_large_spares);

    while (large == NULL && ink_large_add_records())
        large = ink_large_pop(&ink_large_spares);
    return large;
}

void ink_large_spare_record(struct ink_large *large)
{
    ink_large_push(&ink_large_spares, large);
}

static void ink_large_raise_peak(_Atomic size_t *peak, size_t value)
{
    size_t old = ink_load_relaxed(peak);

    while (value > old && !ink_cas_relaxed(peak, &old, value))
        continue;
}

void ink_large_count(size_t blocks, size_t bytes)
{
    blocks += ink_add_relaxed(&ink_large_live_blocks, blocks);
    bytes = ink_dirty_add_large_live(bytes);
    ink_large_raise_peak(&ink_large_peak_blocks, blocks);
    ink_large_raise_peak(&ink_large_peak_bytes, bytes);
}

size_t ink_large_live(void)
{
    return ink_load_relaxed(&ink_large_live_blocks);
}

struct ink_large_sum ink_large_sum(void)
{
    return (struct ink_large_sum){
        .blocks = ink_load_relaxed(&ink_large_live_blocks),
        .bytes = ink_dirty_large_in_use(),
        .blocks_peak = ink_load_relaxed(&ink_large_peak_blocks),
        .bytes_peak = ink_load_relaxed(&ink_large_peak_bytes),
    };
}
