/* Head tier "wide": {version | link} in two machine words, changed by a double-width
 * compare-and-swap.  A link may be any word, a pointer too, and on 64 bits the version does not
 * come round.  See head.h for the interface.
 *
 * configure finds out by linking how this machine and compiler do it, one way for all accesses of a
 * build:
 *   INK_WIDE_INLINE     the instruction itself, by __sync (gcc never inlines the C11 form).
 *                       Snapshots are two plain loads.  Not under the thread sanitizer, which makes
 *                       of the instruction a lock and two stores.
 *   INK_WIDE_LIBATOMIC  calls into libatomic, loads included: it may take a lock, which a plain
 *                       load would not respect.
 * On x86-64 the instruction is cmpxchg16b: every processor since 2006, not the baseline of the
 * architecture. */
#ifndef INK_HEAD_WIDE_H
#define INK_HEAD_WIDE_H

#include "cc.h"

#if UINTPTR_MAX > UINT32_MAX
typedef unsigned __int128 ink_wide_pair_t;
#else
typedef uint64_t ink_wide_pair_t;
#endif

typedef uintptr_t ink_wide_link_t;

typedef struct {
    uintptr_t version;
    ink_wide_link_t top;
} ink_wide_snapshot_t;

enum { INK_WIDE_BITS = 8 * sizeof(uintptr_t) };

static_assert(INK_WIDE_BITS >= 32, "fewer bits of version come round within a time slice");

static inline ink_wide_pair_t ink_wide_pair(uintptr_t version, ink_wide_link_t top)
{
    return (ink_wide_pair_t)version << INK_WIDE_BITS | top;
}

static inline ink_wide_snapshot_t ink_wide_snapshot_of(ink_wide_pair_t pair)
{
    return (ink_wide_snapshot_t){.version = (uintptr_t)(pair >> INK_WIDE_BITS),
                                 .top = (ink_wide_link_t)pair};
}

#if defined(INK_WIDE_INLINE) && !INK_THREAD_SANITIZER

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { INK_WIDE_TOP = 0, INK_WIDE_VERSION = 1 };
#else
enum { INK_WIDE_TOP = 1, INK_WIDE_VERSION = 0 };
#endif

struct ink_wide_head {
    /* Top and version.  Written by any thread, both at once, through the two commits; each half
     * read by any thread. */
    _Alignas(sizeof(ink_wide_pair_t)) _Atomic uintptr_t half[2];
};

/* The version first: if a removal comes between the two loads, the commit finds another version.
 * (Top first could pair a top of before the removal with the version after it, and the old link
 * would be believed.) */
static inline ink_wide_snapshot_t ink_wide_snapshot(struct ink_wide_head *head)
{
    uintptr_t version = ink_load_acquire(&head->half[INK_WIDE_VERSION]);

    return (ink_wide_snapshot_t){.version = version,
                                 .top = ink_load_acquire(&head->half[INK_WIDE_TOP])};
}

/* Linearises here; releases and acquires.  A failed instruction may have read the two words at two
 * moments (aarch64), so the renewed snapshot is read anew, version first. */
static inline bool ink_wide_commit(struct ink_wide_head *head, ink_wide_snapshot_t *snapshot,
                                   uintptr_t version, ink_wide_link_t top)
{
    typedef ink_wide_pair_t __attribute__((may_alias)) whole_t;
    ink_wide_pair_t expected = ink_wide_pair(snapshot->version, snapshot->top);

    if (INK_COUNT_CAS(__sync_bool_compare_and_swap((whole_t *)(void *)head->half, expected,
                                                   ink_wide_pair(version, top))))
        return true;
    *snapshot = ink_wide_snapshot(head);
    return false;
}

#else /* libatomic, or the thread sanitizer */

struct ink_wide_head {
    /* Version and top.  Accessed by any thread, by calls alone. */
    _Alignas(sizeof(ink_wide_pair_t)) ink_wide_pair_t pair;
};

static inline ink_wide_snapshot_t ink_wide_snapshot(struct ink_wide_head *head)
{
    return ink_wide_snapshot_of(__atomic_load_n(&head->pair, __ATOMIC_ACQUIRE));
}

/* Linearises here. */
static inline bool ink_wide_commit(struct ink_wide_head *head, ink_wide_snapshot_t *snapshot,
                                   uintptr_t version, ink_wide_link_t top)
{
    ink_wide_pair_t seen = ink_wide_pair(snapshot->version, snapshot->top);

    if (INK_COUNT_CAS(__atomic_compare_exchange_n(&head->pair, &seen, ink_wide_pair(version, top),
                                                  false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)))
        return true;
    *snapshot = ink_wide_snapshot_of(seen);
    return false;
}

#endif

static_assert(sizeof(struct ink_wide_head) == sizeof(ink_wide_pair_t),
              "the head is one double word");

static inline ink_wide_link_t ink_wide_top(ink_wide_snapshot_t snapshot)
{
    return snapshot.top;
}

static inline uint64_t ink_wide_version(ink_wide_snapshot_t snapshot)
{
    return snapshot.version;
}

static inline bool ink_wide_commit_pop(struct ink_wide_head *head, ink_wide_snapshot_t *snapshot,
                                       ink_wide_link_t next)
{
    return ink_wide_commit(head, snapshot, snapshot->version + 1, next);
}

/* The whole pair, though top alone would do for the link: what else the pusher derived from the old
 * top (a depth) must still be true. */
static inline bool ink_wide_commit_push(struct ink_wide_head *head, ink_wide_snapshot_t *snapshot,
                                        ink_wide_link_t node)
{
    return ink_wide_commit(head, snapshot, snapshot->version, node);
}

#endif
