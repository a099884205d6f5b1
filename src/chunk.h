/* Chunks: 2 MiB of address space aligned to a huge page, handed out in runs of 64 KiB units.
 *
 * A chunk is the unit of mapping.  A run is a row of units in it; what a run is used for is its
 * holder's affair (run.h: items of one class; heap.c: one block).  Records (units.h) stand outside
 * of the chunk, in memory that is never unmapped.  Where an aligned 2 MiB cannot be had, a small
 * chunk with fewer units takes its place. */
#ifndef INK_CHUNK_H
#define INK_CHUNK_H

#include "cc.h"
#include "lock.h"
#include "units.h"

/* A run of units units whose address is a multiple of alignment_units units (a power of two), in
 * state TAKEN, its owner words set; NULL when there is no memory.  Any thread. */
struct ink_run *ink_chunk_take(unsigned units, unsigned alignment_units, struct ink_locker me);

/* Before withdrawn units are purged: where they are a part of the chunk the kernel, which keeps the
 * rest as small pages, must not make it whole again; a chunk that has become wholly free begins
 * anew. */
void ink_chunk_change_advice(struct ink_chunk *chunk, uint32_t units);

/* Before a part of the chunk is purged. */
void ink_chunk_expect_holes(struct ink_chunk *chunk);

/* Gives a withdrawn chunk's memory back to the system, and its record up.  Bytes; 0 if the system
 * refuses: the chunk is then as it was. */
size_t ink_chunk_unmap(struct ink_chunk *chunk, struct ink_locker me);

#endif
