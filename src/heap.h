/* The heap: routes a request to a bin, a range of units or a mapping of its own, and a pointer back
 * to where it came from.
 *
 *      1 B .. 32 KiB    an item of a size class, through the thread's cache
 *   32 KiB .. 1 MiB     a range of 64 KiB units
 *    1 MiB ..           a large block; also whatever is aligned beyond 1 MiB
 *
 * Nothing here touches errno; the exported functions do. */
#ifndef INK_HEAP_H
#define INK_HEAP_H

#include "cc.h"

enum { INK_RANGE_MAX = 1024 * 1024 };

/* A block of at least bytes, aligned to 16; NULL when there is no memory or bytes is beyond
 * PTRDIFF_MAX.  Any thread, any signal handler. */
void *ink_heap_alloc(size_t bytes);

/* An item of class after the fast path found its bin empty; class and taken as from
 * ink_cache_try_alloc. */
void *ink_heap_alloc_taken(size_t class, intptr_t taken);

/* The same for more than INK_SMALL_MAX bytes. */
void *ink_heap_alloc_big(size_t bytes);

/* The same, all bytes zero. */
void *ink_heap_alloc_zeroed(size_t bytes);

/* A block aligned to alignment, a power of two. */
void *ink_heap_alloc_aligned(size_t bytes, size_t alignment);

/* Frees p; NULL is fine.  A misuse that is found is fatal, in the name of function. */
void ink_heap_free(void *p, const char *function);

/* The same after the fast path gave up; class and taken as from ink_cache_try_free. */
void ink_heap_free_taken(void *p, size_t class, intptr_t taken, const char *function);

/* The block at p with room for bytes (not 0), moved if need be, its contents kept; NULL as for
 * ink_heap_alloc: p is then as it was.  p is not NULL.  A block is not kept when it is more than
 * twice too large. */
void *ink_heap_realloc(void *p, size_t bytes);

/* From now on blocks are handed out full of the complement of value's low byte, and items and
 * ranges are filled with that byte when they are freed; 0: no more.  Zeroed blocks are zero, what a
 * realloc keeps is kept, and what the kernel adds to a large block is zero.  The calling thread
 * follows at once, others with their next turn, so set it before they start. */
void ink_heap_perturb(int value);

/* How many bytes at p may be used; constant while the block lives.  0 for NULL.  Makes no state. */
size_t ink_heap_usable(const void *p, const char *function);

#endif
