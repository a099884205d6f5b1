/* Large blocks and their records. */
#include "large.h"
#include "chunk.h"
#include "die.h"
#include "dirty.h"
#include "head.h"
#include "map.h"
#include "meta.h"
#include "options.h"
#include "os.h"

#include <limits.h>
#include <string.h>

enum {
    INK_LARGE_TAG = 1, /* in an owner word */
    INK_LARGE_BLOCK_RECORDS = 64,
    INK_LARGE_BLOCKS = 16384,
    /* States, in the low bits of the place word; a block's address is page-aligned. */
    INK_LARGE_FREE = 0,
    INK_LARGE_LIVE = 1,
    INK_LARGE_BUSY = 2, /* being moved */
    INK_LARGE_STATES = 3,
    INK_LARGE_UNMAP_BLOCKS =
        16384, /* with more live blocks than this, a hole between them may be one mapping too many */
    INK_LARGE_KEPT_LOOK = 8,   /* kept mappings looked at for one that fits */
    INK_LARGE_DIRTY_SLACK = 4, /* a dirty one may be larger by this part of what is asked for */
    INK_LARGE_EVICTIONS = 4,   /* kept for nothing, given back to make room for one */
    INK_LARGE_HUGE_BYTES = 4 * 1024 * 1024, /* from here on huge pages pay ... */
    INK_LARGE_HUGE_USED = 32 * 1024 * 1024, /* ... once so much is in use */
};

struct ink_large {
    /* {address | state}.  LIVE -> FREE or BUSY by compare-and-swap: whoever wins has the block to itself. */
    _Atomic uintptr_t place;
    _Atomic size_t bytes;    /* of the mapping, from address on; written by whoever has the block */
    _Atomic uint32_t link;   /* number of the next spare record; see head.h */
    uint32_t number;         /* of this record, from 1; constant */
    struct ink_large *aside; /* the next of those that one thread has in hand */
};

/* number -> record, in blocks.  Published by release; never removed. */
static _Atomic(struct ink_large *) ink_large_blocks[INK_LARGE_BLOCKS];
static _Atomic uint32_t ink_large_block_count;
static struct ink_head ink_large_spares; /* records without a block */
static struct ink_head ink_large_kept;   /* records of freed blocks that are still mapped, purged */
static struct ink_head ink_large_dirty;  /* the same, as they were freed */
static _Atomic size_t
    ink_large_unmapped_bytes; /* given back and not mapped again since; a glance */

static _Atomic size_t ink_large_live_blocks, ink_large_peak_blocks, ink_large_peak_bytes;

static struct ink_large *ink_large_at(uint32_t number)
{
    return &ink_load_acquire(
        &ink_large_blocks[(number - 1) / INK_LARGE_BLOCK_RECORDS])[(number - 1) %
                                                                   INK_LARGE_BLOCK_RECORDS];
}

static void ink_large_push(struct ink_head *head, struct ink_large *large)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(head);

    do {
        ink_store_relaxed(&large->link, ink_head_top_index(snapshot));
        INK_BETWEEN();
    } while (!ink_head_commit_push(head, &snapshot, large->number));
}

static struct ink_large *ink_large_pop(struct ink_head *head)
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

static struct ink_large *ink_large_take_record(void)
{
    struct ink_large *large = ink_large_pop(&ink_large_spares);

    while (large == NULL && ink_large_add_records())
        large = ink_large_pop(&ink_large_spares);
    return large;
}

static void ink_large_raise_peak(_Atomic size_t *peak, size_t value)
{
    size_t old = ink_load_relaxed(peak);

    while (value > old && !ink_cas_relaxed(peak, &old, value))
        continue;
}

/* Adds to what is live.  Bytes that were reserved before are not added again. */
static void ink_large_count(size_t blocks, size_t bytes)
{
    blocks += ink_add_relaxed(&ink_large_live_blocks, blocks);
    bytes = ink_dirty_add_large_live(bytes);
    ink_large_raise_peak(&ink_large_peak_blocks, blocks);
    ink_large_raise_peak(&ink_large_peak_bytes, bytes);
}

/* False: the hard limit. */
static bool ink_large_reserve(size_t bytes)
{
    return ink_dirty_reserve_large(bytes, ink_chunk_used_bytes());
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
    return bytes < INK_UNIT_BYTES ? (size_t)INK_UNIT_BYTES
                                  : ink_align_up(bytes, ink_os_page_bytes());
}

static char *ink_large_address(const struct ink_large *large)
{
    return (char *)(ink_load_relaxed(&large->place) & ~(uintptr_t)INK_LARGE_STATES);
}

static bool ink_large_fits(const struct ink_large *large, size_t mapping, size_t alignment,
                           size_t most)
{
    size_t bytes = ink_load_relaxed(&large->bytes);

    return bytes >= mapping && bytes <= most &&
           ((uintptr_t)ink_large_address(large) & (alignment - 1)) == 0;
}

/* A kept mapping that fits, among the first look; those that do not are put back.  NULL if there is none. */
static struct ink_large *ink_large_take_kept(struct ink_head *kept, size_t mapping,
                                             size_t alignment, size_t most, unsigned look)
{
    struct ink_large *seen = NULL, *fitting = NULL;

    for (; look != 0 && fitting == NULL; look--) {
        struct ink_large *large = ink_large_pop(kept);

        if (large == NULL)
            break;
        if (ink_large_fits(large, mapping, alignment, most)) {
            fitting = large;
        } else {
            large->aside = seen;
            seen = large;
        }
    }
    for (struct ink_large *next; seen != NULL; seen = next) {
        next = seen->aside;
        ink_large_push(kept, seen);
    }
    return fitting;
}

/* reserved: bytes that the block was counted with before it was found. */
static void *ink_large_reuse(struct ink_large *large, size_t reserved)
{
    char *address = ink_large_address(large);
    size_t bytes = ink_load_relaxed(&large->bytes);

    ink_large_publish(large, address, bytes);
    ink_large_count(1, bytes - reserved);
    return address;
}

/* Unmaps a block that nobody knows any more; false if the system refuses. */
static bool ink_large_unmap(struct ink_large *large)
{
    size_t bytes = ink_load_relaxed(&large->bytes);

    /* The owner word stays and leads to a record that says FREE.  Nobody else writes it before the kernel gives the address out again. */
    if (ink_load_relaxed(&ink_large_live_blocks) >= INK_LARGE_UNMAP_BLOCKS ||
        !ink_os_unmap(ink_large_address(large), bytes))
        return false;
    ink_add_relaxed(&ink_large_unmapped_bytes, bytes);
    ink_large_push(&ink_large_spares, large);
    return true;
}

/* Gives a block back to the system: unmaps it, or where even a mapping in its place is one too many, its pages at least.  Refused that too, the
 * range is lost, and the record serves another. */
static void ink_large_give_back(struct ink_large *large)
{
    char *address = ink_large_address(large);
    size_t bytes = ink_load_relaxed(&large->bytes);

    if (ink_large_unmap(large))
        return;
    ink_large_push(ink_os_map_again(address, bytes) || ink_os_purge(address, bytes)
                       ? &ink_large_kept
                       : &ink_large_spares,
                   large);
}

/* ---- freed blocks that are kept as they are ---- */

size_t ink_large_used_bytes(void)
{
    return ink_chunk_used_bytes() + ink_dirty_large_in_use();
}

static bool ink_large_may_keep(size_t bytes)
{
    return ink_chunk_dirty_bytes() + ink_dirty_large() + bytes <=
           ink_dirty_allowed(ink_chunk_used_bytes());
}

static struct ink_large *ink_large_forget_dirty(struct ink_large *large)
{
    if (large != NULL)
        ink_dirty_add_large(0 - ink_load_relaxed(&large->bytes));
    return large;
}

/* True if the block is kept; what was kept before it may have to go for that. */
static bool ink_large_keep_dirty(struct ink_large *large)
{
    size_t bytes = ink_load_relaxed(&large->bytes);

    if (bytes > ink_dirty_allowed(ink_chunk_used_bytes())) {
        ink_dirty_forgive();
        return false;
    }
    for (int i = 0; i < INK_LARGE_EVICTIONS && !ink_large_may_keep(bytes); i++) {
        struct ink_large *evicted = ink_large_forget_dirty(ink_large_pop(&ink_large_dirty));

        if (evicted == NULL)
            break;
        ink_large_give_back(evicted);
    }
    /* Now, not when it is handed out again: a child of a fork in between must find all that is kept mapped. */
    if (!ink_large_may_keep(bytes) || !ink_os_reset(ink_large_address(large), bytes)) {
        ink_dirty_forgive();
        return false;
    }
    ink_dirty_add_large(bytes);
    ink_large_push(&ink_large_dirty, large);
    return true;
}

void ink_large_recount_kept(void)
{
    struct ink_large *large, *all = NULL;

    while ((large = ink_large_pop(&ink_large_dirty)) != NULL) {
        large->aside = all;
        all = large;
    }
    ink_dirty_add_large(0 - ink_dirty_large());
    for (; all != NULL; all = large) {
        large = all->aside;
        ink_dirty_add_large(ink_load_relaxed(&all->bytes));
        ink_large_push(&ink_large_dirty, all);
    }
}

void ink_large_make_room(void)
{
    struct ink_large *evicted;

    /* So many at once: another free or allocation goes on. */
    for (int i = 0; i < INK_LARGE_EVICTIONS && ink_dirty_large() != 0 &&
                    ink_dirty_large() + ink_chunk_dirty_bytes() >
                        ink_dirty_allowed_beside(ink_chunk_used_bytes());
         i++) {
        evicted = ink_large_forget_dirty(ink_large_pop(&ink_large_dirty));
        if (evicted == NULL)
            return;
        ink_large_give_back(evicted);
    }
}

void ink_large_make_fewer(size_t bytes)
{
    size_t before = ink_dirty_large(), stays = before > bytes ? before - bytes : 0;

    while (ink_dirty_large() > stays) {
        struct ink_large *evicted = ink_large_forget_dirty(ink_large_pop(&ink_large_dirty));

        if (evicted == NULL)
            return;
        ink_large_give_back(evicted);
    }
}

static void *ink_large_take_dirty(size_t mapping, size_t alignment)
{
    size_t slack = mapping / INK_LARGE_DIRTY_SLACK;
    bool roomy = ink_dirty_may_take(slack, ink_chunk_used_bytes());
    struct ink_large *large = ink_large_forget_dirty(
        ink_large_take_kept(&ink_large_dirty, mapping, alignment,
                            roomy ? mapping + slack : mapping, INK_LARGE_KEPT_LOOK));

    return large != NULL ? ink_large_reuse(large, mapping) : NULL;
}

/* What was given back only lately would better have been kept. */
static void ink_large_regret(size_t mapping)
{
    size_t unmapped = ink_load_relaxed(&ink_large_unmapped_bytes);
    size_t regretted = mapping < unmapped ? mapping : unmapped;

    if (regretted == 0)
        return;
    ink_store_relaxed(&ink_large_unmapped_bytes, unmapped - regretted);
    ink_dirty_regret(regretted, ink_chunk_used_bytes());
}

/* ---- requests ---- */

/* Like chunks, not where a small process touches a page here and a page there.  used: what is in use with this block. */
static void ink_large_advise(void *address, size_t mapping, size_t used)
{
    unsigned thp = ink_options.thp;

    if (mapping < INK_LARGE_HUGE_BYTES)
        return;
    if (thp == INK_THP_NEVER)
        ink_os_forbid_huge_pages(address, mapping);
    else if (thp == INK_THP_ALWAYS || used >= INK_LARGE_HUGE_USED)
        ink_os_advise_huge_pages(address, mapping);
}

static void *ink_large_map(size_t mapping, size_t alignment)
{
    struct ink_large *large = ink_large_take_record();
    char *address;

    if (large == NULL)
        return NULL;
    address = alignment <= ink_os_page_bytes() ? ink_os_map(mapping)
                                               : ink_os_map_aligned(mapping, alignment);
    if (address != NULL && !ink_owners_open(address, 1)) {
        (void)ink_os_unmap(address, mapping);
        address = NULL;
    }
    if (address == NULL) {
        ink_large_push(&ink_large_spares, large);
        return NULL;
    }
    ink_large_publish(large, address, mapping);
    ink_large_count(1, 0);
    ink_large_advise(address, mapping, ink_large_used_bytes());
    ink_large_regret(mapping);
    return address;
}

/* A block of reserved bytes: a kept one, or a fresh one. */
static void *ink_large_obtain(size_t mapping, size_t alignment, bool *zeroed)
{
    void *address = ink_large_take_dirty(mapping, alignment);
    struct ink_large *kept;

    *zeroed = address == NULL;
    if (address != NULL)
        return address;
    ink_dirty_want_room(INK_ROOM_FROM_ALL);
    kept = ink_large_take_kept(&ink_large_kept, mapping, alignment, mapping + mapping / 2,
                               INK_LARGE_KEPT_LOOK);
    address = kept != NULL ? ink_large_reuse(kept, mapping) : ink_large_map(mapping, alignment);
    if (ink_likely(address != NULL))
        return address;
    kept = ink_large_take_kept(&ink_large_kept, mapping, alignment, SIZE_MAX, UINT_MAX);
    return kept != NULL ? ink_large_reuse(kept, mapping) : NULL;
}

void *ink_large_alloc(size_t bytes, size_t alignment, bool *zeroed)
{
    size_t mapping = ink_large_mapping_bytes(bytes);
    void *address;

    if (ink_unlikely(!ink_large_reserve(mapping)))
        return NULL;
    address = ink_large_obtain(mapping, alignment, zeroed);
    if (ink_unlikely(address == NULL))
        (void)ink_dirty_add_large_live(0 - mapping);
    return address;
}

/* The low bits of p must not pass for a state. */
static struct ink_large *ink_large_find(const void *p)
{
    ink_owner_t owner = ((uintptr_t)p & INK_LARGE_STATES) == 0 ? ink_owner_of(p) : 0;

    return (owner & INK_LARGE_TAG) != 0 ? (struct ink_large *)(owner & ~(ink_owner_t)INK_LARGE_TAG)
                                        : NULL;
}

/* Takes the live block at p for the caller alone; NULL if there is none. */
static struct ink_large *ink_large_claim(const void *p, uintptr_t state)
{
    struct ink_large *large = ink_large_find(p);
    uintptr_t place = (uintptr_t)p | INK_LARGE_LIVE;

    return large != NULL && ink_cas_acq_rel(&large->place, &place, (uintptr_t)p | state) ? large
                                                                                         : NULL;
}

const char *ink_large_free(void *p)
{
    struct ink_large *large = ink_large_claim(p, INK_LARGE_FREE);
    size_t bytes;

    if (large == NULL)
        return ink_large_fault(p);
    bytes = ink_load_relaxed(&large->bytes);
    ink_large_count((size_t)-1, (size_t)0 - bytes);
    if (!ink_large_keep_dirty(large))
        ink_large_give_back(large);
    return NULL;
}

/* All that is kept dirty is kept purged, or not at all.  Bytes unmapped. */
static size_t ink_large_trim_dirty(void)
{
    struct ink_large *large;
    size_t before = ink_load_relaxed(&ink_large_unmapped_bytes), after;

    while ((large = ink_large_forget_dirty(ink_large_pop(&ink_large_dirty))) != NULL)
        ink_large_give_back(large);
    after =
        ink_exchange_acq_rel(&ink_large_unmapped_bytes, 0); /* asked for: no reason for regret */
    return after > before ? after - before : 0;
}

/* One pass over the kept mappings; bytes given back.  *left: some were refused. */
static size_t ink_large_trim_once(bool *left)
{
    struct ink_large *large, *refused = NULL;
    size_t bytes = 0;

    while ((large = ink_large_pop(&ink_large_kept)) != NULL) {
        if (ink_os_unmap(ink_large_address(large), ink_load_relaxed(&large->bytes))) {
            bytes += ink_load_relaxed(&large->bytes);
            ink_large_push(&ink_large_spares, large);
        } else {
            large->aside = refused;
            refused = large;
        }
    }
    *left = refused != NULL;
    for (; refused != NULL; refused = large) {
        large = refused->aside;
        ink_large_push(&ink_large_kept, refused);
    }
    return bytes;
}

/* What one pass gives back makes room for the pieces that another would leave. */
size_t ink_large_trim(void)
{
    size_t bytes = ink_large_trim_dirty(), pass;
    bool left;

    do {
        pass = ink_large_trim_once(&left);
        bytes += pass;
    } while (left && pass != 0);
    return bytes;
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

/* Growth is counted before it is made, what shrinks after it. */
static void *ink_large_remap(void *p, size_t old, size_t mapping)
{
    size_t growth = mapping > old ? mapping - old : 0;
    void *moved;

    if (mapping == old)
        return p;
    if (!ink_large_reserve(growth))
        return NULL;
    moved = ink_os_remap(p, old, mapping, false);
    if (moved == NULL)
        moved = ink_large_move(p, old, mapping);
    ink_large_count(0, moved == NULL ? 0 - growth : growth == 0 ? mapping - old : 0);
    return moved;
}

void *ink_large_realloc(void *p, size_t bytes, const char **fault)
{
    struct ink_large *large = ink_large_claim(p, INK_LARGE_BUSY);
    size_t mapping = ink_large_mapping_bytes(bytes), old, used;
    void *moved;

    *fault = large == NULL ? ink_large_fault(p) : NULL;
    if (large == NULL)
        return NULL;
    old = ink_load_relaxed(&large->bytes);
    moved = ink_large_remap(p, old, mapping);
    ink_large_publish(large, moved != NULL ? moved : p, moved != NULL ? mapping : old);
    if (moved == NULL)
        return NULL;
    used = ink_large_used_bytes();
    if (old < INK_LARGE_HUGE_BYTES || used < INK_LARGE_HUGE_USED + (mapping - old))
        ink_large_advise(moved, mapping, used); /* else it was advised before */
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
    if ((uintptr_t)p > address && (uintptr_t)p - address < ink_load_relaxed(&large->bytes) &&
        (place & INK_LARGE_STATES) != INK_LARGE_FREE)
        return INK_FAULT_INTERIOR;
    return INK_FAULT_FOREIGN;
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
