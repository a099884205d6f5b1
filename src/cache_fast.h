/* The fast paths: what malloc and free do when the thread's bin has what they need.  No call, no
 * lock, no read-modify-write.
 *
 * Order within an operation (signal handlers and the snapshot of a fork see it): take the cache,
 * move slot and cursor, put the cache back. */
#ifndef INK_CACHE_FAST_H
#define INK_CACHE_FAST_H

#include "cc.h"
#include "map.h"
#include "thread.h"

/* What ink_tls_cache held; it holds BUSY now.  Every operation that may do more than look begins
 * with this. */
static INK_ALWAYS_INLINE intptr_t ink_cache_take(void)
{
    intptr_t taken = ink_load_relaxed(&ink_tls_cache);

    ink_store_relaxed(&ink_tls_cache, INK_CACHE_BUSY);
    ink_signal_fence();
    return taken;
}

/* A thief (steal.h) orders what was done before by a system call, which the thread sanitizer does
 * not know. */
static INK_ALWAYS_INLINE void ink_cache_put_back(intptr_t taken)
{
    ink_signal_fence();
    if (INK_THREAD_SANITIZER)
        ink_store_release(&ink_tls_cache, taken);
    else
        ink_store_relaxed(&ink_tls_cache, taken);
}

/* The cursor of class in a cache: base is the constants' address shifted by the cache's distance,
 * so that the constant caches and a live one are reached alike.  The address is formed anew at each
 * use, which costs nothing, rather than kept in a register. */
static INK_ALWAYS_INLINE _Atomic(ink_slot_t *) *ink_cache_cursor(uintptr_t base, size_t *class)
{
    ink_opaque(*class);
    return (_Atomic(ink_slot_t *) *)(base + offsetof(struct ink_constants, empty)) + *class;
}

/* An item of class *class, or NULL: then the cache is still taken, and *taken says what it was. */
static INK_ALWAYS_INLINE void *ink_bin_try_alloc(const struct ink_constants *constants,
                                                 size_t *class, intptr_t *taken)
{
    uintptr_t base;
    ink_slot_t *slot;
    void *p;

    *taken = ink_cache_take();
    base = (uintptr_t)constants + (uintptr_t)*taken;
    slot = ink_load_relaxed(ink_cache_cursor(base, class));
    p = ink_load_relaxed(slot);
    if (ink_unlikely(p == NULL))
        return NULL;
    ink_store_relaxed(ink_cache_cursor(base, class), slot + 1);
    ink_cache_put_back(*taken);
    return p;
}

/* The same for bytes, at most INK_TINY_MAX; *class is their class. */
static INK_ALWAYS_INLINE void *ink_cache_try_alloc_tiny(size_t bytes, size_t *class,
                                                        intptr_t *taken)
{
    const struct ink_constants *constants = &ink_constants;

    INK_COUNT_CALL();
    ink_opaque(constants);
    *class = constants->class_of_byte[bytes];
    return ink_bin_try_alloc(constants, class, taken);
}

/* The same for bytes, at most INK_SMALL_MAX. */
static INK_ALWAYS_INLINE void *ink_cache_try_alloc(size_t bytes, size_t *class, intptr_t *taken)
{
    const struct ink_constants *constants = &ink_constants;

    INK_COUNT_CALL();
    ink_opaque(constants);
    *class = constants->class_of_step[ink_class_step(bytes)];
    return ink_bin_try_alloc(constants, class, taken);
}

/* Puts p into its bin; false: then the cache is still taken, *taken says what it was, and *class is
 * p's class or 0.  p's address alone is looked at.  Class 0 (foreign, misaligned, NULL, not small)
 * has no bin, and a bin whose top is p gets no second p. */
static INK_ALWAYS_INLINE bool ink_cache_try_free(void *p, size_t *class, intptr_t *taken)
{
    const struct ink_constants *constants = &ink_constants;
    uintptr_t base;
    ink_slot_t *slot;

    INK_COUNT_CALL();
    *class = ink_window_class(p);
    ink_opaque(constants);
    *taken = ink_cache_take();
    base = (uintptr_t)constants + (uintptr_t)*taken;
    slot = ink_load_relaxed(ink_cache_cursor(base, class));
    if (ink_unlikely(((uintptr_t)slot & (INK_FRAME_BYTES - 1)) == 0) ||
        ink_unlikely(ink_load_own(slot) == p))
        return false;
    slot--;
    ink_store_relaxed(slot, p);
    ink_signal_fence();
    ink_store_relaxed(ink_cache_cursor(base, class), slot);
    ink_cache_put_back(*taken);
    return true;
}

#endif
