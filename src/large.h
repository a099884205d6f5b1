/* Large blocks: mappings of their own, above what a run can hold or aligned beyond it.
 *
 * A block's record stands outside of it and is never unmapped.  One word says whether it is live and where: {address | state}, so that of two frees
 * of one block only one can win, and none can hit the record's next block.
 *
 * A freed block is kept as it is for the next one that it fits, as far as dirty.h allows, and else unmapped.  Where that would tear the process's map into too many pieces (a system allows some 65000 mappings, and refuses everything
 * once they are used up), it is purged and kept for the next block that it fits. */
#ifndef INK_LARGE_H
#define INK_LARGE_H

#include "cc.h"

/* A block of at least bytes, its address a multiple of alignment (a power of two; 16 or more); NULL when the system has none.  *zeroed: whether it is all
 * zero.  Any thread, lock-free. */
void *ink_large_alloc(size_t bytes, size_t alignment, bool *zeroed);

/* Bytes in use, of large blocks and of chunks.  Any thread; a glance. */
size_t ink_large_used_bytes(void);

/* In the child of a fork: what other threads had in hand is lost, and no longer counted as kept.  Its only thread. */
void ink_large_recount_kept(void);

/* Gives blocks that are kept as they were back while dirty.h allows less beside what is in use; see ink_dirty_allowed_beside. */
void ink_large_make_room(void);

/* Gives back so many bytes of the blocks that are kept as they were.  Bytes may be 0. */
void ink_large_make_fewer(size_t bytes);

/* Gives mappings that were kept back to the system.  Bytes. */
size_t ink_large_trim(void);

/* Frees the block.  NULL, or what is wrong with p (a fault of die.h). */
const char *ink_large_free(void *p);

/* The usable bytes of the block at p; 0 if p is not a large block. */
size_t ink_large_usable(const void *p);

/* Grows or shrinks the block to at least bytes, moving it if need be (then aligned to a page).  NULL if the system refuses: the block is
 * then as it was.  *fault says what is wrong with p, if anything is. */
void *ink_large_realloc(void *p, size_t bytes, const char **fault);

/* What is wrong with a pointer that is neither a large block nor an item of a run. */
const char *ink_large_fault(const void *p);

struct ink_large_sum {
    size_t blocks;
    size_t bytes;
    size_t blocks_peak;
    size_t bytes_peak;
};
struct ink_large_sum ink_large_sum(void);

#endif
