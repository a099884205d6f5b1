/* System calls, made through syscall(2)'s wrapper and never through mmap(3) and friends: those are
 * often interposed by programs that allocate inside. */
#include "os.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum {
    /* On every architecture; headers older than Linux 5.10 do not know it. */
    INK_SYS_PROCESS_MADVISE = 440,
    INK_PIDFD_SELF = -10001, /* the calling process, without a descriptor */
};

/* The kernel's answer without touching errno: the value, or -errno. */
#define ink_syscall(...)                         \
    ({                                           \
        int ink_saved_errno_ = errno;            \
        long ink_result_ = syscall(__VA_ARGS__); \
        if (ink_result_ == -1)                   \
            ink_result_ = -(long)errno;          \
        errno = ink_saved_errno_;                \
        ink_result_;                             \
    })

/* Above every address and below every -errno. */
static bool ink_syscall_failed(long result)
{
    return (unsigned long)result > (unsigned long)-4096L;
}

/* The kernel orders whoever gives memory back before whoever is given it next.  ThreadSanitizer has
 * to be told. */
#if INK_THREAD_SANITIZER
void __tsan_acquire(void *);
void __tsan_release(void *);
static char ink_os_memory_order;

static void ink_os_memory_leaves(void)
{
    __tsan_release(&ink_os_memory_order);
}

static void ink_os_memory_comes(void)
{
    __tsan_acquire(&ink_os_memory_order);
}
#else
static inline void ink_os_memory_leaves(void)
{
}

static inline void ink_os_memory_comes(void)
{
}
#endif

size_t ink_os_page_bytes(void)
{
    static _Atomic size_t page_bytes; /* 0: not asked yet; every writer writes the same */
    size_t bytes = ink_load_relaxed(&page_bytes);

    if (ink_unlikely(bytes == 0)) {
        int saved_errno = errno;

        bytes = getauxval(AT_PAGESZ);
        if (!ink_is_pow2(bytes))
            bytes = 4096;
        errno = saved_errno;
        ink_store_relaxed(&page_bytes, bytes);
    }
    return bytes;
}

#ifdef SYS_mmap2
#define INK_SYS_MMAP SYS_mmap2
#else
#define INK_SYS_MMAP SYS_mmap
#endif

static void *ink_os_map_as(size_t bytes, int flags)
{
    /* Every argument as a long: syscall() is variadic. */
    long address = ink_syscall(INK_SYS_MMAP, 0L, bytes, (long)(PROT_READ | PROT_WRITE),
                               (long)(MAP_PRIVATE | MAP_ANONYMOUS | flags), -1L, 0L);

    ink_os_memory_comes();
    return ink_syscall_failed(address) ? NULL : (void *)address;
}

void *ink_os_map(size_t bytes)
{
    return ink_os_map_as(bytes, 0);
}

/* As in linux/mman.h, which not every C library's header repeats. */
#define INK_MAP_HUGE_2MB (21 << 26)

void *ink_os_map_pooled_huge_page(void)
{
    return ink_os_map_as(INK_OS_HUGE_PAGE_BYTES, MAP_HUGETLB | INK_MAP_HUGE_2MB);
}

bool ink_os_map_again(void *address, size_t bytes)
{
    long again;

    ink_os_memory_leaves();
    again = ink_syscall(INK_SYS_MMAP, address, bytes, (long)(PROT_READ | PROT_WRITE),
                        (long)(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED), -1L, 0L);
    ink_os_memory_comes();
    return !ink_syscall_failed(again);
}

void *ink_os_map_aligned(size_t bytes, size_t alignment)
{
    size_t page = ink_os_page_bytes();
    size_t total, head, tail;
    char *raw;

    bytes = ink_align_up(bytes, page);
    raw = ink_os_map(bytes);

    if (raw == NULL || ((uintptr_t)raw & (alignment - 1)) == 0)
        return raw;
    (void)ink_os_unmap(raw, bytes);
    if (__builtin_add_overflow(bytes, alignment - page, &total))
        return NULL;
    raw = ink_os_map(total);
    if (raw == NULL)
        return NULL;
    head = ink_align_up((uintptr_t)raw, alignment) - (uintptr_t)raw;
    tail = total - head - bytes;
    /* A trim that fails leaves address space mapped and untouched: no harm. */
    if (head != 0)
        (void)ink_os_unmap(raw, head);
    if (tail != 0)
        (void)ink_os_unmap(raw + total - tail, tail);
    return raw + head;
}

bool ink_os_unmap(void *address, size_t bytes)
{
    ink_os_memory_leaves();
    return !ink_syscall_failed(ink_syscall(SYS_munmap, address, bytes));
}

void *ink_os_remap(void *address, size_t old_bytes, size_t new_bytes, bool may_move)
{
    long moved;

    ink_os_memory_leaves();
    moved = ink_syscall(SYS_mremap, address, old_bytes, new_bytes,
                        may_move ? (long)MREMAP_MAYMOVE : 0L);
    ink_os_memory_comes();
    return ink_syscall_failed(moved) ? NULL : (void *)moved;
}

bool ink_os_reset(void *address, size_t bytes)
{
    return ink_syscall(SYS_mprotect, address, bytes, (long)(PROT_READ | PROT_WRITE)) == 0 &&
           ink_syscall(SYS_madvise, address, bytes, (long)MADV_DOFORK) == 0;
}

static bool ink_os_drop(void *address, size_t bytes)
{
    return ink_syscall(SYS_madvise, address, bytes, (long)MADV_DONTNEED) == 0;
}

/* Some emulators accept MADV_DONTNEED and do nothing.  A byte that survives the first purge
 * tells. */
static bool ink_os_drop_probed(void *address, size_t bytes)
{
    volatile unsigned char *probe = address;

    *probe = 1;
    return ink_os_drop(address, bytes) && *probe == 0;
}

static _Atomic bool ink_os_drop_works; /* set once, by whoever sees it first */

bool ink_os_purge(void *address, size_t bytes)
{
    bool zeroed;

    if (ink_load_relaxed(&ink_os_drop_works))
        return ink_os_drop(address, bytes);
    zeroed = ink_os_drop_probed(address, bytes);
    if (zeroed)
        ink_store_relaxed(&ink_os_drop_works, true);
    return zeroed;
}

/* True if the kernel took the whole row.  It is asked once only: before Linux 6.13 it refuses this
 * advice, before 6.14 this name of the process. */
static bool ink_os_drop_row(const struct ink_os_range *ranges, unsigned count)
{
    static _Atomic bool refused, taken; /* each set once */
    long advised, bytes = 0;

    if (ink_load_relaxed(&refused))
        return false;
    for (unsigned i = 0; i < count; i++)
        bytes += (long)ranges[i].bytes;
    advised = ink_syscall(INK_SYS_PROCESS_MADVISE, (long)INK_PIDFD_SELF, ranges, (long)count,
                          (long)MADV_DONTNEED, 0L);
    if (advised == -EBADF || advised == -ENOSYS || advised == -EPERM ||
        (advised == -EINVAL && !ink_load_relaxed(&taken))) /* else locked pages */
        ink_store_relaxed(&refused, true);
    else if (advised == bytes)
        ink_store_relaxed(&taken, true);
    return advised == bytes;
}

bool ink_os_purge_ranges(const struct ink_os_range *ranges, unsigned count)
{
    bool zeroed = true;

    if (count > 1 && ink_load_relaxed(&ink_os_drop_works) && ink_os_drop_row(ranges, count))
        return true;
    for (unsigned i = 0; i < count; i++)
        zeroed = ink_os_purge(ranges[i].address, ranges[i].bytes) && zeroed;
    return zeroed;
}

#ifndef MADV_FREE
#define MADV_FREE 8
#endif

bool ink_os_purge_lazily(const struct ink_os_range *ranges, unsigned count)
{
    bool taken = true;

    for (unsigned i = 0; i < count; i++)
        taken =
            ink_syscall(SYS_madvise, ranges[i].address, ranges[i].bytes, (long)MADV_FREE) == 0 &&
            taken;
    return taken;
}

void ink_os_forbid_huge_pages(void *address, size_t bytes)
{
    (void)ink_syscall(SYS_madvise, address, bytes, (long)MADV_NOHUGEPAGE);
}

void ink_os_advise_huge_pages(void *address, size_t bytes)
{
    (void)ink_syscall(SYS_madvise, address, bytes, (long)MADV_HUGEPAGE);
}

#ifdef SYS_clock_gettime
uint32_t ink_os_now_ms(void)
{
    long now[2] = {0, 0}; /* as this call takes them, whatever time_t is */

    (void)ink_syscall(SYS_clock_gettime, (long)CLOCK_MONOTONIC, now);
    return (uint32_t)((uint64_t)now[0] * 1000 + (uint64_t)now[1] / 1000000);
}
#else
uint32_t ink_os_now_ms(void)
{
    int64_t now[2] = {0, 0};

    (void)ink_syscall(SYS_clock_gettime64, (long)CLOCK_MONOTONIC, now);
    return (uint32_t)((uint64_t)now[0] * 1000 + (uint64_t)now[1] / 1000000);
}
#endif

#ifdef SYS_nanosleep
void ink_os_sleep_ms(uint32_t ms)
{
    long time[2] = {(long)(ms / 1000), (long)(ms % 1000) * 1000000};

    (void)ink_syscall(SYS_nanosleep, time, NULL);
}
#else
void ink_os_sleep_ms(uint32_t ms)
{
    int64_t time[2] = {ms / 1000, (int64_t)(ms % 1000) * 1000000};

    (void)ink_syscall(SYS_clock_nanosleep_time64, (long)CLOCK_MONOTONIC, 0L, time, NULL);
}
#endif

/* Glibc sends itself 32 and 33, musl 32 to 34: setuid in one thread would wait for a thread that
 * blocks them. */
void ink_os_block_signals(struct ink_os_signals *before)
{
    struct ink_os_signals most;

    for (unsigned i = 0; i < sizeof most.words / sizeof most.words[0]; i++)
        most.words[i] = ~0ul;
    for (unsigned signal = 32; signal <= 34; signal++)
        most.words[(signal - 1) / (8 * sizeof(long))] &=
            ~(1ul << (signal - 1) % (8 * sizeof(long)));
    (void)ink_syscall(SYS_rt_sigprocmask, (long)SIG_SETMASK, &most, before, sizeof most);
}

void ink_os_restore_signals(const struct ink_os_signals *before)
{
    (void)ink_syscall(SYS_rt_sigprocmask, (long)SIG_SETMASK, before, NULL, sizeof *before);
}

void ink_os_yield(void)
{
    (void)ink_syscall(SYS_sched_yield);
}

#ifdef SYS_futex
void ink_os_wait(_Atomic uint32_t *word, uint32_t expected)
{
    long limit[2] = {
        0, 50000}; /* seconds and nanoseconds as this call takes them, whatever time_t is */

    (void)ink_syscall(SYS_futex, word, (long)FUTEX_WAIT_PRIVATE, (long)expected, limit, NULL, 0L);
}
#else /* 32-bit systems born after 2038 became a concern */
void ink_os_wait(_Atomic uint32_t *word, uint32_t expected)
{
    struct {
        int64_t seconds, nanoseconds;
    } limit = {0, 50000};

    (void)ink_syscall(SYS_futex_time64, word, (long)FUTEX_WAIT_PRIVATE, (long)expected, &limit,
                      NULL, 0L);
}
#endif

#ifdef SYS_futex
#define INK_SYS_FUTEX SYS_futex
#else
#define INK_SYS_FUTEX SYS_futex_time64
#endif

/* Nobody is woken and nobody is requeued: the call is for its comparison, which a kernel makes
 * without faulting us. */
bool ink_os_word_is(const void *address, uint32_t value)
{
    static _Atomic uint32_t nowhere;

    return ink_syscall(INK_SYS_FUTEX, address, (long)FUTEX_CMP_REQUEUE_PRIVATE, 0L, 0L, &nowhere,
                       (long)value) == 0;
}

static bool ink_os_membarrier(long command)
{
    return ink_syscall(SYS_membarrier, command, 0L, 0L) == 0;
}

bool ink_os_barrier(void)
{
    return ink_os_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
           (ink_os_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
            ink_os_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}

uintptr_t ink_os_self(void)
{
    return (uintptr_t)pthread_self();
}

bool ink_os_is_first_thread(void)
{
    return ink_syscall(SYS_gettid) == ink_syscall(SYS_getpid);
}

void ink_os_write(int fd, const char *text, size_t length)
{
    while (length != 0) {
        long written = ink_syscall(SYS_write, fd, text, length);

        if (written <= 0)
            return;
        text += written;
        length -= (size_t)written;
    }
}

char ink_os_generation_slot[2 * INK_OS_PAGE_BYTES_MAX];

/* The last generation that this process or an ancestor used, on an ordinary page: what a wiped page
 * is counted up from.  It is raised before the new number is published, so that a child forked in
 * between can only skip a number, never reuse one. */
static _Atomic uint32_t ink_last_generation;

static void ink_generation_wipe(void)
{
    ink_store_release(ink_os_generation_word(), 0);
}

/* Asks the kernel to zero the page in children; where it cannot (before Linux 4.14) the child's
 * side of fork does it. */
static void ink_generation_arm(void)
{
    static ink_flag_t armed; /* once: pthread_atfork may allocate, and lead here again */

    if (ink_exchange_acq_rel(&armed, true))
        return;
    if (ink_syscall(SYS_madvise, ink_os_generation_word(), (long)INK_OS_PAGE_BYTES_MAX,
                    (long)MADV_WIPEONFORK) != 0)
        (void)pthread_atfork(NULL, NULL, ink_generation_wipe);
}

INK_COLD uint32_t ink_os_generation_slow(void)
{
    uint32_t unknown = 0;
    uint32_t last = ink_load_relaxed(&ink_last_generation);
    uint32_t next = last % (INK_OS_GENERATIONS - 1) + 1;

    if (last == 0)
        ink_generation_arm();
    if (!ink_cas_acq_rel(&ink_last_generation, &last, next))
        next = last;
    if (!ink_cas_acq_rel(ink_os_generation_word(), &unknown, next))
        next = unknown;
    return next;
}
