/* What the heap holds, summed up on request: nothing is counted on the fast paths. */
#ifndef INK_STATS_H
#define INK_STATS_H

#include "cc.h"

/* Bytes, unless the name says otherwise.  Exact when no other thread allocates meanwhile; else each
 * part is from about the same moment. */
struct ink_stats {
    size_t mapped;        /* of chunks, from the system */
    size_t metadata;      /* of records */
    size_t live;          /* of items and ranges in the program's hands */
    size_t live_blocks;   /* how many */
    size_t cached;        /* of items in caches and on shared lists */
    size_t cached_blocks; /* how many */
    size_t free;          /* of chunks, in nobody's hands and in no cache */
    size_t free_blocks;   /* items free in runs */
    /* At most so much of free is resident; the rest was purged or never touched. */
    size_t dirty;
    size_t large; /* of large blocks */
    size_t large_blocks;
    size_t large_kept; /* of freed large blocks that are kept as they were */
    size_t large_peak;
    size_t large_blocks_peak;
};

/* Any thread; takes no lock, makes no state. */
struct ink_stats ink_stats_collect(void);

/* The line that names the library, its version and its head, with its newline; constant. */
extern INK_HIDDEN const char ink_stats_banner[];

#endif
