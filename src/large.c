/* Large blocks: taking, freeing, resizing. */
#include "large.h"
#include "chunk.h"
#include "die.h"
#include "dirty.h"
#include "large_kept.h"
#include "large_record.h"
#include "map.h"
#include "options.h"
#include "os.h"

enum {
    INK_LARGE_HUGE_BYTES = 4 * 1024 * 1024, /* from here on huge pages pay ... */
    INK_LARGE_HUGE_USED = 32 * 1024 * 1024, /* ... once so much is in use */
};

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

/* At least a unit: then no two blocks begin in the same one, and an owner word leads to one
 * record. */
static size_t ink_large_mapping_bytes(size_t bytes)
{
    return bytes < INK_UNIT_BYTES ? (size_t)INK_UNIT_BYTES
                                  : ink_align_up(bytes, ink_os_page_bytes());
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

size_t ink_large_used_bytes(void)
{
    return ink_chunk_used_bytes() + ink_dirty_large_in_use();
}

/* Like chunks, not where a small process touches a page here and a page there.  used: what is in
 * use with this block. */
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
        ink_large_spare_record(large);
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
    struct ink_large *kept = ink_large_take_dirty(mapping, alignment);
    void *address;

    *zeroed = kept == NULL;
    if (kept != NULL)
        return ink_large_reuse(kept, mapping);
    ink_dirty_want_room(INK_ROOM_FROM_ALL);
    kept = ink_large_take_purged(mapping, alignment);
    address = kept != NULL ? ink_large_reuse(kept, mapping) : ink_large_map(mapping, alignment);
    if (ink_likely(address != NULL))
        return address;
    kept = ink_large_take_any(mapping, alignment);
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

size_t ink_large_usable(const void *p)
{
    struct ink_large *large = ink_large_find(p);

    if (large == NULL || ink_load_acquire(&large->place) != ((uintptr_t)p | INK_LARGE_LIVE))
        return 0;
    return ink_load_relaxed(&large->bytes);
}

/* Lets the kernel move the mapping, with a leaf in hand for the owner word of a place that cannot
 * be known before. */
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
