/* Large blocks: mappings of their own, above what a run can hold or aligned beyond it.
 *
 * One word of a block's record (large_record.h) says whether it is live and where: {address |
 * state}, so that of two frees of one block only one can win, and none can hit the record's next
 * block.
 *
 * A freed block is kept for the next one that it fits (large_kept.h), or unmapped. */
#ifndef INK_LARGE_H
#define INK_LARGE_H

#include "cc.h"

/* A block of at least bytes, its address a multiple of alignment (a power of two; 16 or more); NULL
 * when the system has none.  *zeroed: whether it is all zero.  Any thread, lock-free. */
void *ink_large_alloc(size_t bytes, size_t alignment, bool *zeroed);

/* Bytes in use, of large blocks and of chunks.  Any thread; a glance. */
size_t ink_large_used_bytes(void);

/* Frees the block.  NULL, or what is wrong with p (a fault of die.h). */
const char *ink_large_free(void *p);

/* The usable bytes of the block at p; 0 if p is not a large block. */
size_t ink_large_usable(const void *p);

/* Grows or shrinks the block to at least bytes, moving it if need be (then aligned to a page).
 * NULL if the system refuses: the block is then as it was.  *fault says what is wrong with p, if
 * anything is. */
void *ink_large_realloc(void *p, size_t bytes, const char **fault);

/* What is wrong with a pointer that is neither a large block nor an item of a run. */
const char *ink_large_fault(const void *p);

#endif
