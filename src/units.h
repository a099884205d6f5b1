/* Units: which 64 KiB of which chunk are free, and what is known of them.
 *
 * A chunk's record holds masks of its units, and one record for each run that may begin in it:
 *
 *   struct ink_chunk:  base, free units, zero units | run[0] run[1] ... run[31]
 *
 * A run's record is that of its first unit.
 *
 * One lock guards the masks and the buckets; no system call is made under it.  The truth, from
 * which a lock taken over from a vanished thread is repaired, is each run's state: a unit is free
 * exactly if no run that is in use covers it.  Whoever works on free units outside of the lock
 * (maps, purges) withdraws them first, and puts them back. */
#ifndef INK_UNITS_H
#define INK_UNITS_H

#include "buckets.h"
#include "cc.h"
#include "lock.h"
#include "map.h"

enum {
    INK_CHUNK_UNITS = 32,
    INK_CHUNK_BYTES = INK_CHUNK_UNITS * INK_UNIT_BYTES,
    INK_RUN_UNITS_MAX = 16, /* of a range: 1 MiB */
    /* Bitmap words in the record: 512 items, every class from 128 bytes on. */
    INK_RUN_INLINE_WORDS = 8,
    INK_RUN_WORDS_MAX = 64, /* 4096 items */
    INK_CHUNK_BITMAP_BYTES = INK_CHUNK_UNITS * INK_RUN_WORDS_MAX * 8,
};

enum ink_run_state {
    INK_RUN_FREE,  /* its units are free, or belong to another run */
    INK_RUN_TAKEN, /* being made into one of the next two */
    INK_RUN_CLASS, /* items of one class */
    INK_RUN_RANGE, /* one block */
    /* Given back, not yet in the mask: whoever holds the chunk lock makes it FREE. */
    INK_RUN_RETURNED,
};

struct ink_run {
    struct ink_bucket_node node; /* class lock */
    char *base;                  /* first byte; constant while in use */
    /* Bit i set: item i is free and in nobody's hand.  Written under the class lock; read by
     * anyone. */
    _Atomic(_Atomic uint64_t *) words;
    /* enum ink_run_state: the truth about its units.  FREE -> TAKEN and RETURNED -> FREE under
     * the chunk lock. */
    _Atomic uint32_t state;
    uint32_t inverse; /* see ink_class_item */
    uint16_t size;    /* bytes of an item */
    /* Constant while in use; statistics read it at any time, and of words and units too. */
    _Atomic uint16_t items;
    uint16_t free; /* bits set; class lock */
    /* The number of free items at which it belongs into the next bucket, or is wholly free;
     * class lock. */
    uint16_t next_step;
    _Atomic uint8_t class; /* constant while in use */
    _Atomic uint8_t units; /* constant while in use */
    uint8_t number;        /* of its first unit; constant */
    uint8_t bucket;        /* class lock */
    _Atomic uint8_t shard; /* whose lock guards it; constant while in use */
    bool zeroed;           /* all its bytes were zero when it was taken */
    uint8_t purged_pages;  /* of free items, purged and not used since; class lock */
    _Alignas(8) _Atomic uint64_t inline_words[INK_RUN_INLINE_WORDS];
};

struct ink_chunk {
    struct ink_bucket_node node; /* chunk lock */
    char *base;                  /* first byte; constant while mapped */
    /* Bit per unit that is mapped; 0: the record is spare.  Written by whoever maps or unmaps the
     * chunk, while all its units are TAKEN. */
    _Atomic uint32_t owned;
    uint32_t free;   /* bit per unit that can be taken; chunk lock */
    uint32_t zero;   /* bit per free unit that is known to read as zero; chunk lock */
    uint32_t clean;  /* bit per free unit that has no memory, and is not dirty; chunk lock */
    uint32_t purged; /* bit per clean unit that was purged; chunk lock */
    uint8_t bucket;  /* chunk lock */
    /* Its pages could not be purged (locked memory); until a run is taken from it.  Chunk lock. */
    bool stuck;
    /* A page from the pool: is purged as a whole or not at all; constant while mapped. */
    ink_flag_t pooled;
    ink_flag_t huge; /* huge pages were asked for; written by whoever changes the advice */
    /* Some run of it is RETURNED.  Set by whoever could not get the lock, cleared by whoever
     * merges. */
    ink_flag_t some_returned;
    struct ink_chunk *next; /* of all records ever made; constant once published */
    /* Bitmaps of runs with more than INK_RUN_INLINE_WORDS: INK_RUN_WORDS_MAX words for each unit,
     * on pages of their own, which go back when the chunk does.  NULL until one is needed; then
     * published by compare-and-swap, and constant. */
    _Atomic(_Atomic uint64_t *) bitmaps;
    _Alignas(INK_LINE_BYTES) struct ink_run run[INK_CHUNK_UNITS];
};

static inline uint32_t ink_units_mask(unsigned first, unsigned units)
{
    return (uint32_t)((((uint64_t)1 << units) - 1) << first);
}

/* False if the lock is not to be had.  What was left by an owner that is gone, and by those who
 * could not get it, has been made good. */
bool ink_units_lock(struct ink_locker me);
void ink_units_unlock(struct ink_locker me);

/* Whether the lock is held by an operation that this one interrupts. */
bool ink_units_lock_is_beneath(struct ink_locker me);

/* The lowest place in mask for a row of units ones that starts at a multiple of alignment units of
 * address, or -1. */
int ink_units_place(const struct ink_chunk *chunk, uint32_t mask, unsigned units,
                    unsigned alignment);

/* Makes free units a run; the states of all but its first say FREE.  Chunk lock, or a chunk that
 * nobody else knows. */
struct ink_run *ink_units_carve(struct ink_chunk *chunk, unsigned place, unsigned units);

/* A run of free units; NULL if there are none in a row.  Chunk lock. */
struct ink_run *ink_units_search(unsigned units, unsigned alignment);

/* Sets the state of single units, each as a run of its own.  Chunk lock, or units that are the
 * caller's. */
void ink_units_mark(struct ink_chunk *chunk, uint32_t units, enum ink_run_state state);

/* Takes units out of the mask for a system call; meanwhile they are in use.  Chunk lock. */
void ink_units_withdraw(struct ink_chunk *chunk, uint32_t units);

/* Puts withdrawn units (back) into the mask.  Without the lock. */
enum ink_units_are {
    INK_UNITS_FRESH,   /* from the system */
    INK_UNITS_PURGED,  /* known to read as zero */
    INK_UNITS_LEFT,    /* to the system, which may take them: see ink_os_purge_lazily */
    INK_UNITS_REFUSED, /* to be purged, but the system would not */
};
void ink_units_put(struct ink_chunk *chunk, uint32_t units, enum ink_units_are are,
                   struct ink_locker me);

/* Gives back a run whose state the caller has changed to RETURNED.  Any thread; may be called under
 * a class lock: it waits for nothing. */
void ink_chunk_give(struct ink_run *run, struct ink_locker me);

/* In the child of a fork: runs that vanished threads were about to give back are found by whoever
 * takes the lock next. */
void ink_chunks_look_for_returned(void);

/* The next chunk with dirty units, wholly free ones only if whole, from where the last search
 * ended.  Chunk lock. */
struct ink_chunk *ink_chunks_find_dirty(bool whole);

/* Of the chunk, which units are free and can be purged, and whether all that it has is free.  Chunk
 * lock. */
uint32_t ink_chunk_dirty_units(const struct ink_chunk *chunk);
bool ink_chunk_is_whole(const struct ink_chunk *chunk);

/* Records of chunks: a spare one, or NULL (chunk lock); a new one, or NULL when there is no memory
 * (no lock); puts one by that describes nothing, which is lost if the lock is not to be had. */
struct ink_chunk *ink_chunk_spare_record(void);
struct ink_chunk *ink_chunk_new_record(void);
void ink_chunk_put_record(struct ink_chunk *chunk, struct ink_locker me);

/* All chunk records, newest first; those with owned == 0 describe nothing. */
struct ink_chunk *ink_chunk_first(void);

/* Adds to the units that are mapped; how many there were before, and are.  Any thread. */
size_t ink_units_add_mapped(size_t units);
size_t ink_units_mapped(void);

/* Bytes of free units that can be purged.  Any thread; a glance. */
size_t ink_chunk_dirty_bytes(void);

/* The least that ink_chunk_dirty_bytes was since this was last called.  A glance. */
size_t ink_chunk_take_dirty_low(void);

/* Bytes of units that are not free.  Any thread; a glance. */
size_t ink_chunk_used_bytes(void);

static inline struct ink_chunk *ink_chunk_of_run(struct ink_run *run)
{
    return (struct ink_chunk *)(void *)((char *)(run - run->number) -
                                        offsetof(struct ink_chunk, run));
}

static inline enum ink_run_state ink_run_state(const struct ink_run *run)
{
    return (enum ink_run_state)ink_load_acquire(&run->state);
}

/* Bytes from its first to its last unit. */
static inline size_t ink_run_bytes(const struct ink_run *run)
{
    return (size_t)ink_load_relaxed(&run->units) * INK_UNIT_BYTES;
}

#endif
