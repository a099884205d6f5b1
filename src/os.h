/* Every system call of the allocator's operation: memory, waiting, thread identity, the fork
 * generation.
 *
 * All functions leave errno as it was: errno belongs to the entry points.  All may be called from
 * any thread, from a signal handler and before any constructor has run; none takes a lock. */
#ifndef INK_OS_H
#define INK_OS_H

#include "cc.h"

/* The kernel's page size in bytes (4 KiB to 64 KiB), from the auxiliary vector. */
size_t ink_os_page_bytes(void);

/* A fresh private mapping of zero bytes, readable and writable, page-aligned; NULL if the system
 * refuses (ENOMEM, EAGAIN, limits).  bytes is rounded up to pages by the kernel. */
void *ink_os_map(size_t bytes);

/* The same, aligned to alignment (a power of two, at least a page); what had to be mapped around it
 * is unmapped again. */
void *ink_os_map_aligned(size_t bytes, size_t alignment);

/* Puts fresh pages in the place of a mapping: zero, and with nothing left of what the user may have
 * asked for there (protection, locks, advice).  False if the kernel refuses: the range is then as
 * it was, or, if memory for the kernel itself has run out, not mapped. */
bool ink_os_map_again(void *address, size_t bytes);

/* Gives the mapping back.  False if the kernel refuses: the range is then still mapped. */
bool ink_os_unmap(void *address, size_t bytes);

/* Grows or shrinks a mapping, moving it if may_move; NULL if refused (the old mapping is then
 * untouched). */
void *ink_os_remap(void *address, size_t old_bytes, size_t new_bytes, bool may_move);

/* Makes a mapping that has been in a program's hands as a fresh one is but for its contents:
 * readable, writable, inherited by children.  False if the kernel refuses. */
bool ink_os_reset(void *address, size_t bytes);

/* Drops the contents of whole pages.  True only if the pages are known to read as zero
 * afterwards. */
bool ink_os_purge(void *address, size_t bytes);

/* The same for several ranges, in one system call where the kernel has it (Linux 6.13 for the
 * calling process): each call flushes the processors' address caches, which costs more than the
 * pages.  True only if all of them are known to read as zero. */
enum { INK_OS_RANGES_MAX = 64 };
#define INK_OS_HUGE_PAGE_BYTES ((size_t)2 * INK_MIB)
struct ink_os_range { /* as struct iovec */
    void *address;
    size_t bytes;
};
bool ink_os_purge_ranges(const struct ink_os_range *ranges, unsigned count);

/* Leaves the contents of whole pages to the kernel, to be taken when it needs memory (MADV_FREE,
 * Linux 4.5); until they are written to again, they may read as what they were or as zero.  False
 * if it refuses some of them: these are as they were. */
bool ink_os_purge_lazily(const struct ink_os_range *ranges, unsigned count);

/* A fresh mapping of one huge page of 2 MiB from the pool that the system's administrator has set
 * aside; NULL if there is none left.  Only as a whole can it be purged. */
void *ink_os_map_pooled_huge_page(void);

/* Never huge pages there: for memory that is touched sparsely.  A kernel without them does not
 * mind. */
void ink_os_forbid_huge_pages(void *address, size_t bytes);

/* Huge pages there if the kernel will: for memory that is used densely. */
void ink_os_advise_huge_pages(void *address, size_t bytes);

/* Milliseconds of a clock that never goes back, modulo 2^32. */
uint32_t ink_os_now_ms(void);

/* Sleeps for so long, or less if a signal comes.  No cancellation point. */
void ink_os_sleep_ms(uint32_t ms);

/* Blocks the calling thread's signals but for those that the C library keeps for itself; what was
 * blocked before is put back. */
struct ink_os_signals { /* as the kernel has them */
    unsigned long words[8 / sizeof(unsigned long)];
};
void ink_os_block_signals(struct ink_os_signals *before);
void ink_os_restore_signals(const struct ink_os_signals *before);

/* Lets another thread run. */
void ink_os_yield(void);

/* Sleeps while *word is expected, for about 50 us at most; nobody need wake us. */
void ink_os_wait(_Atomic uint32_t *word, uint32_t expected);

/* Whether the word at address holds value; false if it does not, or nothing is mapped there, or the
 * system does not say.  The word need not be ours: that of a thread that has ended may be gone. */
bool ink_os_word_is(const void *address, uint32_t value);

/* Returns when every thread of this process that was running has passed a full memory barrier.
 * False if the system has none to offer (Linux 4.14 has; emulators do not).  The first time may
 * take some 10 ms. */
bool ink_os_barrier(void);

/* What tells this thread from every other that lives: the address of its control block.  No system
 * call. */
uintptr_t ink_os_self(void);

/* True in the thread that the process (or the child of a fork) began with. */
bool ink_os_is_first_thread(void);

/* Writes text to a file descriptor as far as it goes; no cancellation point. */
void ink_os_write(int fd, const char *text, size_t length);

/* The generation of this process: changes in every child that does not share its parent's memory,
 * however it was made (fork, _Fork, clone).  1 .. INK_OS_GENERATIONS - 1; stays the same across
 * vfork and in threads. */
enum { INK_OS_GENERATION_BITS = 10, INK_OS_GENERATIONS = 1 << INK_OS_GENERATION_BITS };

uint32_t ink_os_generation_slow(void);

/* The word stands on pages of its own, which the kernel zeroes in a child (MADV_WIPEONFORK).  The
 * slot is large enough to hold one aligned page of any size wherever the loader puts it.  0 means:
 * unknown, ask slow.  Written by the first to ask in a process. */
enum { INK_OS_PAGE_BYTES_MAX = 65536 };

extern INK_HIDDEN char ink_os_generation_slot[2 * INK_OS_PAGE_BYTES_MAX];

static inline _Atomic uint32_t *ink_os_generation_word(void)
{
    return (_Atomic uint32_t *)ink_align_up((uintptr_t)ink_os_generation_slot,
                                            INK_OS_PAGE_BYTES_MAX);
}

static inline uint32_t ink_os_generation(void)
{
    uint32_t generation = ink_load_acquire(ink_os_generation_word());

    return ink_likely(generation != 0) ? generation : ink_os_generation_slow();
}

#endif
