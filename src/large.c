/* Large blocks and their records. */
#include "large.h"
#include "die.h"
#include "head.h"
#include "map.h"
#include "meta.h"
#include "os.h"

enum {
    INK_LARGE_TAG = 1, /* in an owner word */
    INK_LARGE_BLOCK_RECORDS = 64,
    INK_LARGE_BLOCKS = 16384,
    /* States, in the low bits of the place word; a block's address is page-aligned. */
    INK_LARGE_FREE = 0,
    INK_LARGE_LIVE = 1,
    INK_LARGE_BUSY = 2, /* being moved */
    INK_LARGE_STATES = 3,
};

struct ink_large {
    /* {address | state}.  LIVE -> FREE or BUSY by compare-and-swap: whoever wins has the block to itself. */
    _Atomic uintptr_t place;
    _Atomic size_t bytes;   /* of the mapping, from address on; written by whoever has the block */
    _Atomic uint32_t link;  /* number of the next spare record; see head.h */
    uint32_t number;        /* of this record, from 1; constant */
};

/* number -> record, in blocks.  Published by release; never removed. */
static _Atomic(struct ink_large *) ink_large_blocks[INK_LARGE_BLOCKS];
static _Atomic uint32_t ink_large_block_count;
static struct ink_head ink_large_spares;

static _Atomic size_t ink_large_live_blocks, ink_large_live_bytes, ink_large_peak_blocks, ink_large_peak_bytes;

static struct ink_large *ink_large_at(uint32_t number)
{
    return &ink_load_acquire(&ink_large_blocks[(number - 1) / INK_LARGE_BLOCK_RECORDS])[(number - 1) % INK_LARGE_BLOCK_RECORDS];
}

static void ink_large_put_record(struct ink_large *large)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(&ink_large_spares);

    do
        ink_store_relaxed(&large->link, ink_head_top(snapshot));
    while (!ink_head_commit_push(&ink_large_spares, &snapshot, large->number));
}

static INK_COLD bool ink_large_add_records(void)
{
    struct ink_large *block = ink_meta_alloc(INK_LARGE_BLOCK_RECORDS * sizeof *block, INK_LINE_BYTES);
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
        ink_large_put_record(&block[i]);
    return true;
}

static struct ink_large *ink_large_take_record(void)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(&ink_large_spares);
    struct ink_large *large;

    for (;;) {
        if (ink_head_top(snapshot) == 0) {
            if (!ink_large_add_records())
                return NULL;
            snapshot = ink_head_snapshot(&ink_large_spares);
            continue;
        }
        large = ink_large_at(ink_head_top(snapshot));
        if (ink_head_commit_pop(&ink_large_spares, &snapshot, ink_load_relaxed(&large->link)))
            return large;
    }
}

static void ink_large_raise_peak(_Atomic size_t *peak, size_t value)
{
    size_t old = ink_load_relaxed(peak);

    while (value > old &&
           !atomic_compare_exchange_weak_explicit(peak, &old, value, memory_order_relaxed, memory_order_relaxed))
        continue;
}

static void ink_large_count(size_t blocks, size_t bytes)
{
    blocks += ink_add_relaxed(&ink_large_live_blocks, blocks);
    bytes += ink_add_relaxed(&ink_large_live_bytes, bytes);
    ink_large_raise_peak(&ink_large_peak_blocks, blocks);
    ink_large_raise_peak(&ink_large_peak_bytes, bytes);
}

/* Makes the block known: complete before its place says LIVE. */
static void ink_large_publish(struct ink_large *large, void *address, size_t bytes)
{
    ink_store_relaxed(&large->bytes, bytes);
    ink_owners_set(address, 1, (ink_owner_t)large | INK_LARGE_TAG);
    ink_store_release(&large->place, (uintptr_t)address | INK_LARGE_LIVE);
}

/* At least a unit: then no two blocks begin in the same one, and an owner word leads to one record. */
static size_t ink_large_mapping_bytes(size_t bytes)
{
    return bytes < INK_UNIT_BYTES ? (size_t)INK_UNIT_BYTES : ink_align_up(bytes, ink_os_page_bytes());
}

void *ink_large_alloc(size_t bytes, size_t alignment)
{
    size_t mapping = ink_large_mapping_bytes(bytes);
    struct ink_large *large = ink_large_take_record();
    char *address;

    if (large == NULL)
        return NULL;
    address = alignment <= ink_os_page_bytes() ? ink_os_map(mapping) : ink_os_map_aligned(mapping, alignment);
    if (address != NULL && !ink_owners_open(address, 1)) {
        (void)ink_os_unmap(address, mapping);
        address = NULL;
    }
    if (address == NULL) {
        ink_large_put_record(large);
        return NULL;
    }
    ink_large_publish(large, address, mapping);
    ink_large_count(1, mapping);
    return address;
}

/* The low bits of p must not pass for a state. */
static struct ink_large *ink_large_find(const void *p)
{
    ink_owner_t owner = ((uintptr_t)p & INK_LARGE_STATES) == 0 ? ink_owner_of(p) : 0;

    return (owner & INK_LARGE_TAG) != 0 ? (struct ink_large *)(owner & ~(ink_owner_t)INK_LARGE_TAG) : NULL;
}

/* Takes the live block at p for the caller alone; NULL if there is none. */
static struct ink_large *ink_large_claim(const void *p, uintptr_t state)
{
    struct ink_large *large = ink_large_find(p);
    uintptr_t place = (uintptr_t)p | INK_LARGE_LIVE;

    return large != NULL && ink_cas_acq_rel(&large->place, &place, (uintptr_t)p | state) ? large : NULL;
}

const char *ink_large_free(void *p)
{
    struct ink_large *large = ink_large_claim(p, INK_LARGE_FREE);
    size_t bytes;

    if (large == NULL)
        return ink_large_fault(p);
    bytes = ink_load_relaxed(&large->bytes);
    ink_large_count((size_t)-1, (size_t)0 - bytes);
    /* The owner word stays and leads to a record that says FREE.  Nobody else writes it before the kernel gives the address out again. */
    if (!ink_os_unmap(p, bytes))
        (void)ink_os_purge(p, bytes); /* too many mappings to split one: the address space is lost, the memory is not */
    ink_large_put_record(large);
    return NULL;
}

size_t ink_large_usable(const void *p)
{
    struct ink_large *large = ink_large_find(p);

    if (large == NULL || ink_load_acquire(&large->place) != ((uintptr_t)p | INK_LARGE_LIVE))
        return 0;
    return ink_load_relaxed(&large->bytes);
}

/* Lets the kernel move the mapping, with a leaf in hand for the owner word of a place that cannot be known before. */
static void *ink_large_move(void *p, size_t old, size_t mapping)
{
    struct ink_leaf *leaf = ink_leaf_take();
    void *moved = leaf != NULL ? ink_os_remap(p, old, mapping, true) : NULL;

    if (moved != NULL)
        leaf = ink_owners_open_with(moved, leaf);
    if (leaf != NULL)
        ink_leaf_keep(leaf);
    return moved;
}

void *ink_large_realloc(void *p, size_t bytes, const char **fault)
{
    struct ink_large *large = ink_large_claim(p, INK_LARGE_BUSY);
    size_t mapping = ink_large_mapping_bytes(bytes), old;
    void *moved;

    *fault = large == NULL ? ink_large_fault(p) : NULL;
    if (large == NULL)
        return NULL;
    old = ink_load_relaxed(&large->bytes);
    moved = mapping == old ? p : ink_os_remap(p, old, mapping, false);
    if (moved == NULL)
        moved = ink_large_move(p, old, mapping);
    ink_large_publish(large, moved != NULL ? moved : p, moved != NULL ? mapping : old);
    if (moved != NULL)
        ink_large_count(0, mapping - old);
    return moved;
}

const char *ink_large_fault(const void *p)
{
    struct ink_large *large = ink_large_find(p);
    uintptr_t place = large != NULL ? ink_load_acquire(&large->place) : 0;
    uintptr_t address = place & ~(uintptr_t)INK_LARGE_STATES;

    if (((uintptr_t)p & 15) != 0)
        return INK_FAULT_MISALIGNED;
    if (large == NULL)
        return INK_FAULT_FOREIGN;
    if (address == (uintptr_t)p)
        return INK_FAULT_DOUBLE;
    if ((uintptr_t)p > address && (uintptr_t)p - address < ink_load_relaxed(&large->bytes) && (place & INK_LARGE_STATES) != INK_LARGE_FREE)
        return INK_FAULT_INTERIOR;
    return INK_FAULT_FOREIGN;
}

struct ink_large_sum ink_large_sum(void)
{
    return (struct ink_large_sum){
        .blocks = ink_load_relaxed(&ink_large_live_blocks),
        .bytes = ink_load_relaxed(&ink_large_live_bytes),
        .blocks_peak = ink_load_relaxed(&ink_large_peak_blocks),
        .bytes_peak = ink_load_relaxed(&ink_large_peak_bytes),
    };
}
