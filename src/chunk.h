/* Chunks: 2 MiB of address space aligned to a huge page, handed out in runs of 64 KiB units.
 *
 * A chunk is the unit of mapping and of purging.  A run is a row of units in it; what a run is used for is its holder's affair (run.h: items of one
 * class; heap.c: one block).  Records stand outside of the chunk, in memory that is never unmapped:
 *
 *   struct ink_chunk:  base, free units, zero units | run[0] run[1] ... run[31]      a run's record is that of its first unit
 *
 * Where an aligned 2 MiB cannot be had, a small chunk with fewer units takes its place.
 *
 * One lock guards the masks and the buckets; no system call is made under it.  The truth, from which a lock taken over from a vanished thread is
 * repaired, is each run's state: a unit is free exactly if no run that is in use covers it. */
#ifndef INK_CHUNK_H
#define INK_CHUNK_H

#include "buckets.h"
#include "cc.h"
#include "lock.h"
#include "map.h"

enum {
    INK_CHUNK_UNITS = 32,
    INK_CHUNK_BYTES = INK_CHUNK_UNITS * INK_UNIT_BYTES,
    INK_RUN_UNITS_MAX = 16, /* of a range: 1 MiB */
    INK_RUN_INLINE_WORDS =
        8, /* bitmap words in the record: 512 items, every class from 128 bytes on */
    INK_RUN_WORDS_MAX = 64, /* 4096 items */
    INK_CHUNK_BITMAP_BYTES = INK_CHUNK_UNITS * INK_RUN_WORDS_MAX * 8,
};

enum ink_run_state {
    INK_RUN_FREE,     /* its units are free, or belong to another run */
    INK_RUN_TAKEN,    /* being made into one of the next two */
    INK_RUN_CLASS,    /* items of one class */
    INK_RUN_RANGE,    /* one block */
    INK_RUN_RETURNED, /* given back, not yet in the mask: whoever holds the chunk lock makes it FREE */
};

struct ink_run {
    struct ink_bucket_node node; /* class lock */
    char *base;                  /* first byte; constant while in use */
    /* Bit i set: item i is free and in nobody's hand.  Written under the class lock; read by anyone. */
    _Atomic(_Atomic uint64_t *) words;
    _Atomic uint32_t
        state; /* enum ink_run_state: the truth about its units.  FREE -> TAKEN and RETURNED -> FREE under the chunk lock */
    uint32_t inverse; /* see ink_class_item */
    uint16_t size;    /* bytes of an item */
    _Atomic uint16_t
        items; /* constant while in use; statistics read it at any time, and of words and units too */
    uint16_t free; /* bits set; class lock */
    uint16_t
        next_step; /* the number of free items at which it belongs into the next bucket, or is wholly free; class lock */
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
    /* Bit per unit that is mapped; 0: the record is spare.  Written by whoever maps or unmaps the chunk, while all its units are TAKEN. */
    _Atomic uint32_t owned;
    uint32_t free;   /* bit per unit that can be taken; chunk lock */
    uint32_t zero;   /* bit per free unit that is known to read as zero; chunk lock */
    uint32_t purged; /* bit per free unit that was purged; chunk lock */
    uint8_t bucket;  /* chunk lock */
    bool
        stuck; /* its pages could not be purged (locked memory); until a run is taken from it.  Chunk lock */
    ink_flag_t huge; /* huge pages were asked for; written by whoever changes the advice */
    /* Some run of it is RETURNED.  Set by whoever could not get the lock, cleared by whoever merges. */
    ink_flag_t some_returned;
    struct ink_chunk *next; /* of all records ever made; constant once published */
    /* Bitmaps of runs with more than INK_RUN_INLINE_WORDS: INK_RUN_WORDS_MAX words for each unit, on pages of their own, which go back when the chunk does.  NULL
     * until one is needed; then published by compare-and-swap, and constant. */
    _Atomic(_Atomic uint64_t *) bitmaps;
    _Alignas(INK_LINE_BYTES) struct ink_run run[INK_CHUNK_UNITS];
};

/* A run of units units whose address is a multiple of alignment_units units (a power of two), in state TAKEN, its owner words set; NULL when there is
 * no memory.  Any thread. */
struct ink_run *ink_chunk_take(unsigned units, unsigned alignment_units, struct ink_locker me);

/* Gives back a run whose state the caller has changed to RETURNED.  Any thread; may be called under a class lock: it waits for nothing. */
void ink_chunk_give(struct ink_run *run, struct ink_locker me);

/* Purges free units if more are dirty than dirty.h allows, whole chunks first, until a quarter less than that is left.  Called without a
 * lock, after runs were given back. */
void ink_chunk_purge_excess(struct ink_locker me);

/* Purges free units so that a fresh mapping, which has raised what is in use, lifts the process no further than dirty.h allows.  Without a
 * lock. */
void ink_chunk_make_room(struct ink_locker me);

/* Before a part of the chunk is purged: the kernel, which keeps the rest as small pages, must not make it whole again. */
void ink_chunk_expect_holes(struct ink_chunk *chunk);

/* Bytes of free units that can be purged, and of units that are not free.  Any thread; a glance. */
size_t ink_chunk_dirty_bytes(void);
size_t ink_chunk_used_bytes(void);

/* Returns free units to the system: purges what is dirty, unmaps chunks that are wholly free.  Bytes returned. */
size_t ink_chunk_trim(struct ink_locker me);

/* In the child of a fork: runs that vanished threads were about to give back are found by whoever takes the lock next. */
void ink_chunks_look_for_returned(void);

/* All chunk records, newest first; those with owned == 0 describe nothing. */
struct ink_chunk *ink_chunk_first(void);

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
