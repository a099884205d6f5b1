/* Mappings of large blocks that were freed, kept for the next block that they fit: as they are
 * ("dirty"), as far as dirty.h allows, and purged, where unmapping would tear the process's map
 * into too many pieces (a system allows some 65000 mappings, and refuses everything once they are
 * used up). */
#ifndef INK_LARGE_KEPT_H
#define INK_LARGE_KEPT_H

#include "large_record.h"

/* With more live blocks than this, a hole between them may be one mapping too many. */
enum { INK_LARGE_UNMAP_BLOCKS = 16384 };

/* Keeps a block that nobody knows any more dirty; what was kept before it may have to go for that.
 * False: not kept.  Any thread. */
bool ink_large_keep_dirty(struct ink_large *large);

/* Gives such a block back to the system: unmaps it, or where even a mapping in its place is one too
 * many, its pages at least.  Refused that too, the range is lost, and the record serves another. */
void ink_large_give_back(struct ink_large *large);

/* A kept block of at least mapping bytes that stands at a multiple of alignment, as it was freed;
 * or one that is purged and so all zero: of about the size, or of any.  NULL if there is none
 * (among the first few, save for "any").  Any thread. */
struct ink_large *ink_large_take_dirty(size_t mapping, size_t alignment);
struct ink_large *ink_large_take_purged(size_t mapping, size_t alignment);
struct ink_large *ink_large_take_any(size_t mapping, size_t alignment);

/* A fresh mapping had to be made: what was given back only lately would better have been kept. */
void ink_large_regret(size_t mapping);

/* In the child of a fork: what other threads had in hand is lost, and no longer counted as kept.
 * Its only thread. */
void ink_large_recount_kept(void);

/* Gives blocks that are kept as they were back while dirty.h allows less beside what is in use; see
 * ink_dirty_allowed_beside. */
void ink_large_make_room(void);

/* Gives back so many bytes of the blocks that are kept as they were.  Bytes may be 0. */
void ink_large_make_fewer(size_t bytes);

/* Gives mappings that were kept back to the system.  Bytes. */
size_t ink_large_trim(void);

#endif
