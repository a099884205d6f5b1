/* Address -> what stands there, for any address at all and without touching it.
 *
 * Two maps in units of 64 KiB:
 *
 *   window   a byte per unit for 256 GiB around the first chunk: the size class of the run there, 0
 *            for everything else.  The fast path of free reads it and nothing more.  4 MiB of
 *            address space in BSS; one touched page serves 256 MiB of heap.
 *   owners   a word per unit for all of the address space: the record of the run or large block
 *            there.  Slow paths read it.
 *
 * Owner words are never an authority over life: they lead to records that are never unmapped, and
 * the record says whether the block it describes is live.  They stay when a block is freed (so a
 * second free is told from a foreign pointer) and are overwritten by the next. */
#ifndef INK_MAP_H
#define INK_MAP_H

#include "cc.h"

enum {
    INK_UNIT_SHIFT = 16,
    INK_UNIT_BYTES = 1 << INK_UNIT_SHIFT,
    /* Alignment of every block: what the low bits of a pointer must agree to. */
    INK_WINDOW_ITEM = 16,
};

#if UINTPTR_MAX > 0xffffffffu
enum { INK_WINDOW_UNITS = 1 << 22, INK_POINTER_BITS = 64 };
#else
enum { INK_WINDOW_UNITS = 1 << 16, INK_POINTER_BITS = 32 };
#endif

struct ink_window {
    /* The last place for an item in unit 0.  Units count downwards from there: then a single
     * subtraction, from a value loaded anyway, gives the distance.  Written once, by
     * compare-and-swap from 0, when the first chunk is mapped; 0 makes every lookup miss or find
     * 0. */
    _Atomic uintptr_t top;
    /* Written by the holder of a class lock when a run begins or ends.  Relaxed both ways is
     * enough: whoever may free a pointer got it through synchronisation that orders the older
     * store; whoever may not reads an old or a new valid byte. */
    _Atomic uint8_t class_of_unit[INK_WINDOW_UNITS];
};

extern INK_HIDDEN struct ink_window ink_window;

/* The class of the run that p points into; 0 if p is NULL, misaligned, foreign, outside the window
 * or not in a run of a class.  The rotation carries a misaligned pointer's low bits above the
 * window's size: one compare tests range and alignment. */
static INK_ALWAYS_INLINE size_t ink_window_class(const void *p)
{
    uintptr_t d = ink_load_relaxed(&ink_window.top) - (uintptr_t)p;

    d = (d >> 4 | d << (INK_POINTER_BITS - 4)) >> (INK_UNIT_SHIFT - 4);
    if (ink_unlikely(d >= INK_WINDOW_UNITS))
        return 0;
    return ink_load_relaxed(&ink_window.class_of_unit[d]);
}

/* Puts the window around address if it has no place yet. */
void ink_window_place(const void *address);

/* Sets the class byte of units units from address on, as far as the window reaches. */
void ink_window_set_class(const void *address, size_t units, unsigned class);

/* What stands in an owner word: a record's address, its kind in the low bits.  0: never ours. */
typedef uintptr_t ink_owner_t;

/* Makes room for the owner words of [address, address + bytes).  False: no memory.  Any thread,
 * lock-free. */
bool ink_owners_open(const void *address, size_t bytes);

/* A leaf in hand (see below), for an address that is not known yet; NULL: no memory.
 * ink_owners_open_with makes room for the one word of address, with that leaf if need be, and
 * returns it if it was not needed; ink_leaf_keep puts it by. */
struct ink_leaf;
struct ink_leaf *ink_leaf_take(void);
struct ink_leaf *ink_owners_open_with(const void *address, struct ink_leaf *leaf);
void ink_leaf_keep(struct ink_leaf *leaf);

/* Sets the owner word of units units from address on; ink_owners_open has been called for them.
 * Release: the record is complete. */
void ink_owners_set(const void *address, size_t units, ink_owner_t owner);

/* Owner words come in leaves of 4 GiB of addresses.  A leaf is found by hashing the address's upper
 * half; leaves are added by compare-and-swap and never removed, so a probe that meets NULL has seen
 * all there is.  No width of addresses is assumed. */
enum {
    INK_LEAF_UNITS = 1 << 16,
    INK_LEAF_SLOT_BITS = 16, /* about as many regions as a process may have mappings */
    INK_LEAF_SLOTS = 1 << INK_LEAF_SLOT_BITS,
};

struct ink_leaf {
    uintptr_t key; /* upper half of its addresses; constant once published */
    _Atomic ink_owner_t owner[INK_LEAF_UNITS];
};

/* Published by release, read by acquire. */
extern INK_HIDDEN _Atomic(struct ink_leaf *) ink_leaves[INK_LEAF_SLOTS];

static inline uintptr_t ink_leaf_key(uintptr_t address)
{
    return (uintptr_t)((uint64_t)address >> 32);
}

static inline size_t ink_leaf_first_slot(uintptr_t key)
{
    return (size_t)(((uint64_t)key * 0x9e3779b97f4a7c15u) >> (64 - INK_LEAF_SLOT_BITS));
}

/* Where the first slot is another's. */
struct ink_leaf *ink_leaf_probe(uintptr_t key);

static inline struct ink_leaf *ink_leaf_find(uintptr_t address)
{
    uintptr_t key = ink_leaf_key(address);
    struct ink_leaf *leaf = ink_load_acquire(&ink_leaves[ink_leaf_first_slot(key)]);

    return ink_likely(leaf == NULL || leaf->key == key) ? leaf : ink_leaf_probe(key);
}

/* ink_owner_of for one of a row of pointers: *leaf, NULL at first, is the leaf that served the last
 * one. */
static INK_ALWAYS_INLINE ink_owner_t ink_owner_of_next(const void *p, const struct ink_leaf **leaf)
{
    uintptr_t key = ink_leaf_key((uintptr_t)p);

    if (ink_unlikely(*leaf == NULL) || ink_unlikely((*leaf)->key != key)) {
        *leaf = ink_leaf_find((uintptr_t)p);
        if (*leaf == NULL)
            return 0;
    }
    return ink_load_acquire(&(*leaf)->owner[(uintptr_t)p >> INK_UNIT_SHIFT & (INK_LEAF_UNITS - 1)]);
}

/* The owner word of the unit that holds p. */
static inline ink_owner_t ink_owner_of(const void *p)
{
    struct ink_leaf *leaf = ink_leaf_find((uintptr_t)p);

    if (ink_unlikely(leaf == NULL))
        return 0;
    return ink_load_acquire(&leaf->owner[(uintptr_t)p >> INK_UNIT_SHIFT & (INK_LEAF_UNITS - 1)]);
}

#endif
