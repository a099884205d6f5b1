/* Thread records: each thread's caches, kept in memory that is never unmapped and used again when
 * the thread has ended.
 *
 *   TLS of the thread                         struct ink_thread
 *   +----------------+                        +--------------------------------+
 *   | ink_tls_cache  |--- distance to --->    | c1: cursors, bins              |
 *   | ink_tls_thread |------------------->    | c2, c3 (made on first need)    |
 *   +----------------+                        | number, self, generation, ...  |
 *                                             +--------------------------------+
 *
 * ink_tls_cache is the distance, in bytes, from the constant empty cache to the cache that
 * operations of this thread use.  It is *taken* while an operation is under way: set to
 * INK_CACHE_BUSY, the distance to a constant cache that looks empty to malloc and full to free.  So
 * an operation that interrupts another (a signal handler, an interposed mmap) falls into the slow
 * path without a test on the fast one.
 *
 *   0               EMPTY: no cache yet.  Zero, because an IFUNC resolver sees TLS before its image
 *                   has been copied.
 *   INK_CACHE_BUSY  an operation is under way (or was left by a jump)
 *   INK_CACHE_DEAD  the thread has ended as far as we are concerned
 *   else            LIVE: c1 of the record at ink_tls_thread */
#ifndef INK_THREAD_H
#define INK_THREAD_H

#include "cc.h"
#include "frame.h"
#include "lock.h"
#include "sizeclass.h"

enum { INK_CACHE_EMPTIES = 16 };

/* In a claim: the frame is the other thread's. */
enum { INK_CLAIM_WON = 1 };

struct ink_bin {
    /* The batch that is loaded next, or NULL.  Taken and given by exchange: any thread may take
     * it. */
    _Atomic(struct ink_frame *) spare;
    /* Items that the bin's next frame has room for: grows from few to the class's batch_items. */
    uint8_t capacity;
    /* Items that the loaded frame has room for: the NULL behind its row stands there. */
    uint8_t loaded;
    /* capacity is the class's batch_items. */
    bool grown;
    /* A batch was loaded since the last overflow. */
    bool refilled;
    /* The low half of the cursor when the bin was last looked at (ink_cache_look). */
    uint32_t seen;
};

struct ink_cache {
    /* Per class, a cursor into the loaded frame: the slot of the item handed out next.  *cursor ==
     * NULL: empty; cursor at the frame's first slot: full.  Written by the thread that has taken
     * the cache, and by one that steals the frame (steal.h); read by anyone.  Stored from the
     * register that was loaded, never changed in memory. */
    _Atomic(ink_slot_t *) cursor[INK_CLASS_SLOTS];
    struct ink_bin bin[INK_CLASS_COUNT];
    /* Empty frames at hand, and how many.  Written by the thread that has taken the cache, so that
     * a frame leaves this list before it is used and is whole in it before it is counted: the child
     * of a fork reads them. */
    _Atomic(struct ink_frame *) empty[INK_CACHE_EMPTIES];
    _Atomic uint8_t empties;
    /* Slow operations until one looks at the next bin, and which that is. */
    uint8_t until_look;
    uint8_t next_look;
    /* Of c1: slow operations, modulo 256.  Written by the thread, read by the thief. */
    _Atomic uint8_t turns;
    /* Of c2 and c3: an operation works in it.  Exchange. */
    ink_flag_t taken;
    /* Of c1, per class: 0, or what another thread that wants the loaded frame has found in the
     * cursor; see steal.h. */
    _Atomic uintptr_t claim[INK_CLASS_COUNT];
};

enum ink_thread_state {
    INK_THREAD_FREE,  /* anyone may make it his by compare-and-swap */
    INK_THREAD_TAKEN, /* his, self and generation not yet written: nobody else judges it */
    INK_THREAD_LIVE,
    INK_THREAD_EXITING, /* being emptied */
};

struct ink_thread {
    _Alignas(INK_LINE_BYTES) struct ink_cache c1;
    _Atomic(struct ink_cache *) c2;
    _Atomic(struct ink_cache *) c3;
    _Atomic uint32_t state; /* enum ink_thread_state */
    /* Of the thread that uses it.  Written by that thread; read by others in search of records that
     * are theirs or orphaned. */
    _Atomic uintptr_t self; /* see ink_os_self */
    _Atomic uint32_t generation;
    /* Its ink_tls_cache.  May be gone when the thread is: to be read by ink_os_word_is alone. */
    _Atomic(const _Atomic intptr_t *) tls_cache;
    ink_lock_owner_t number; /* constant */
    uint8_t turns_seen;      /* the thief's (steal.c): turns at the last decay */
    uint8_t mark;            /* the thief's */
    struct ink_thread *next; /* of all records; constant once published */
};

/* The constants that the fast paths work with, next to each other so that one address reaches them
 * all. */
struct ink_constants {
    uint8_t class_of_byte[INK_TINY_MAX + 1]; /* by size: one load, no arithmetic before it */
    uint8_t class_of_step[INK_CLASS_STEPS];  /* by ink_class_step */
    _Alignas(INK_LINE_BYTES) _Atomic(ink_slot_t *) empty[INK_CLASS_SLOTS];
    _Atomic(ink_slot_t *) busy[INK_CLASS_SLOTS];
    _Atomic(ink_slot_t *) dead[INK_CLASS_SLOTS];
};

extern INK_HIDDEN const struct ink_constants ink_constants;

/* The slot that all cursors of the constant caches point to: the first of its frame and NULL, so
 * full and empty at once. */
extern INK_HIDDEN const struct ink_frame ink_zero_frame;
#define INK_NO_CURSOR ((ink_slot_t *)(uintptr_t)ink_zero_frame.slot)

/* What another thread puts in the place of a cursor whose frame it wants; full and empty at once as
 * well.  Only slow paths can tell them apart: ink_bin_cursor. */
extern INK_HIDDEN const struct ink_frame ink_stolen_frame;
#define INK_STOLEN_CURSOR ((ink_slot_t *)(uintptr_t)ink_stolen_frame.slot)

#define INK_CACHE_EMPTY ((intptr_t)0)
#define INK_CACHE_BUSY  ((intptr_t)sizeof(ink_constants.empty))
#define INK_CACHE_DEAD  ((intptr_t)(2 * sizeof(ink_constants.empty)))

extern INK_HIDDEN __thread _Atomic intptr_t ink_tls_cache
    __attribute__((tls_model("initial-exec")));
extern INK_HIDDEN __thread struct ink_thread *ink_tls_thread
    __attribute__((tls_model("initial-exec")));

/* The class for bytes, at most INK_SMALL_MAX. */
static inline unsigned ink_class_for(size_t bytes)
{
    return ink_constants.class_of_step[ink_class_step(bytes)];
}

/* The distance that ink_tls_cache holds for a cache. */
static inline intptr_t ink_cache_distance(const struct ink_cache *cache)
{
    return (intptr_t)((uintptr_t)cache - (uintptr_t)ink_constants.empty);
}

/* A record for the calling thread: the one it has already (its TLS was overwritten), a free one, or
 * a new one; NULL: no memory.  LIVE, with this self and generation.  *orphans is set if there are
 * records of an older generation. */
struct ink_thread *ink_thread_acquire(uintptr_t self, uint32_t generation, bool *orphans);

/* Gives up a record whose caches are empty. */
void ink_thread_release(struct ink_thread *thread);

/* A cache for an operation that interrupts another: c2 or c3, if it can be had; its taken is then
 * the caller's to clear. */
struct ink_cache *ink_thread_take_inner_cache(struct ink_thread *thread);

/* Records that are some thread's.  Any thread; a glance. */
unsigned ink_thread_live_count(void);

/* All records, newest first. */
struct ink_thread *ink_thread_first(void);

#endif
