/* What every file needs of the compiler: attributes, branch hints, power-of-two arithmetic and
 * atomics with the order in their names.  It knows nothing of allocation. */
#ifndef INK_CC_H
#define INK_CC_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ink_likely(x)   __builtin_expect(!!(x), 1)
#define ink_unlikely(x) __builtin_expect(!!(x), 0)

/* Keeps the compiler from folding what it knows of a pointer into later address arithmetic: one
 * register then serves several uses. */
#define ink_opaque(p) __asm__("" : "+r"(p))

#define INK_EXPORT        __attribute__((visibility("default"), used))
#define INK_NOINLINE      __attribute__((noinline))
#define INK_COLD          __attribute__((noinline, cold))
#define INK_ALWAYS_INLINE inline __attribute__((always_inline))
#define INK_NORETURN      __attribute__((noreturn))
#define INK_HIDDEN        __attribute__((visibility("hidden")))

/* Lines that two processors write are kept this far apart: adjacent-line prefetch makes pairs of
 * 64. */
#define INK_LINE_BYTES 128

#define INK_KIB ((size_t)1 << 10)
#define INK_MIB ((size_t)1 << 20)

static inline bool ink_is_pow2(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static inline uintptr_t ink_align_down(uintptr_t a, size_t alignment)
{
    return a & ~((uintptr_t)alignment - 1);
}

/* Wraps to a small number when a is within alignment of the end of the address space: callers check
 * sizes first. */
static inline uintptr_t ink_align_up(uintptr_t a, size_t alignment)
{
    return (a + alignment - 1) & ~((uintptr_t)alignment - 1);
}

/* Whether loads may pass earlier loads, and stores earlier stores, by the processor's own rules. */
#if defined(__x86_64__) || defined(__i386__) || defined(__s390x__)
#define INK_WEAKLY_ORDERED false
#else
#define INK_WEAKLY_ORDERED true
#endif

/* A flag that is exchanged: a word, because a byte's read-modify-write is a library call on some
 * machines (riscv64 under gcc 12). */
typedef _Atomic uint32_t ink_flag_t;

#if defined(__SANITIZE_THREAD__)
#define INK_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define INK_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define INK_THREAD_SANITIZER 0
#endif

/* Seams of the build that counts (bench/count.c): blocks asked for and given back, and atomic
 * read-modify-writes with those that failed.  In every other build they are what they enclose. */
#ifdef INK_COUNTING
INK_HIDDEN void ink_count_call(void);
INK_HIDDEN void ink_count_rmw(void);
INK_HIDDEN bool ink_count_cas(bool succeeded);
#define INK_COUNT_CALL()         ink_count_call()
#define INK_COUNT_RMW(operation) (ink_count_rmw(), (operation))
#define INK_COUNT_CAS(operation) ink_count_cas(operation)
#else
#define INK_COUNT_CALL()         ((void)0)
#define INK_COUNT_RMW(operation) (operation)
#define INK_COUNT_CAS(operation) (operation)
#endif

/* Named by order, so that a wrong order is visible where it is used. */
#define ink_load_relaxed(p) atomic_load_explicit((p), memory_order_relaxed)
#define ink_load_acquire(p) atomic_load_explicit((p), memory_order_acquire)
/* Of a word that nobody but this thread writes now: the same, but the compiler may fold it into
 * another instruction. */
#define ink_load_own(p) \
    (*(__typeof__(atomic_load_explicit((p), memory_order_relaxed)) *)(uintptr_t)(p))
#define ink_store_relaxed(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define ink_store_release(p, v) atomic_store_explicit((p), (v), memory_order_release)
#define ink_exchange_acq_rel(p, v) \
    INK_COUNT_RMW(atomic_exchange_explicit((p), (v), memory_order_acq_rel))
#define ink_cas_relaxed(p, expected, v)                  \
    INK_COUNT_CAS(atomic_compare_exchange_weak_explicit( \
        (p), (expected), (v), memory_order_relaxed, memory_order_relaxed))
#define ink_cas_acquire(p, expected, v)                    \
    INK_COUNT_CAS(atomic_compare_exchange_strong_explicit( \
        (p), (expected), (v), memory_order_acquire, memory_order_acquire))
#define ink_cas_release(p, expected, v)                    \
    INK_COUNT_CAS(atomic_compare_exchange_strong_explicit( \
        (p), (expected), (v), memory_order_release, memory_order_acquire))
#define ink_cas_acq_rel(p, expected, v)                    \
    INK_COUNT_CAS(atomic_compare_exchange_strong_explicit( \
        (p), (expected), (v), memory_order_acq_rel, memory_order_acquire))
#define ink_add_relaxed(p, v) \
    INK_COUNT_RMW(atomic_fetch_add_explicit((p), (v), memory_order_relaxed))
#define ink_sub_relaxed(p, v) \
    INK_COUNT_RMW(atomic_fetch_sub_explicit((p), (v), memory_order_relaxed))

/* Stands between a snapshot of a lock-free structure and the commit that relies on it.  A test
 * defines it before it includes anything, to put other threads' operations, or other threads,
 * there. */
#ifndef INK_BETWEEN
#define INK_BETWEEN() ((void)0)
#endif

/* Orders this thread's stores against its own signal handlers and against a fork's snapshot; no
 * instruction. */
#define ink_signal_fence() atomic_signal_fence(memory_order_seq_cst)

#endif
