/* Memory for the allocator's own records: handed out once, never given back, so that whoever holds
 * a stale pointer or index to a record still reads a record of the same type.  Callers keep free
 * lists of their own. */
#ifndef INK_META_H
#define INK_META_H

#include "cc.h"

/* Bytes of zeroed memory aligned to alignment (a power of two); NULL when the system has none.  Any
 * thread, any signal handler; lock-free.  Untouched pages cost address space only. */
void *ink_meta_alloc(size_t bytes, size_t alignment);

/* Bytes mapped for records so far. */
size_t ink_meta_mapped_bytes(void);

#endif
