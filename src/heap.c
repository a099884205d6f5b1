/* The routes of a request and of a pointer. */
#include "heap.h"
#include "bin.h"
#include "cache.h"
#include "cache_fast.h"
#include "chunk.h"
#include "die.h"
#include "dirty.h"
#include "large.h"
#include "map.h"
#include "options.h"
#include "purge.h"
#include "run.h"
#include "sizeclass.h"
#include "trim.h"
#include "turn.h"
#include "upkeep.h"

#include <string.h>

/* What no kernel gives without being asked by a hint: on 64 bits 512 TiB in one piece.  It is
 * refused without asking the system, and above all without the trim that follows a refusal, which
 * would cost programs that probe for sizes their caches.  On 32 bits rounding up to pages or units
 * must not pass PTRDIFF_MAX. */
#define INK_HEAP_BYTES_MAX (((size_t)1 << (INK_POINTER_BITS == 64 ? 49 : 31)) - 2 * INK_MIB)

/* ---- what M_PERTURB asks for: done in turns alone ---- */

void ink_heap_perturb(int value)
{
    struct ink_turn turn;

    /* Not 0 whatever the byte is.  One word, so that two callers, or a handler in one, leave what
     * one of them asked for. */
    ink_store_relaxed(&ink_turn_always, value == 0 ? 0 : 256u | ((unsigned)value & 255));
    turn = ink_turn_begin(ink_cache_take());
    ink_turn_end(&turn);
}

/* All that may be used: a realloc that stays in the block, or moves all of it, must not show what
 * was there before. */
static inline void *ink_perturb_new(void *p)
{
    unsigned perturb = ink_load_relaxed(&ink_turn_always);

    if (ink_unlikely(perturb != 0) && p != NULL)
        memset(p, (int)(~perturb & 255), ink_heap_usable(p, "malloc"));
    return p;
}

/* ---- requests ---- */

static INK_NOINLINE void *ink_class_alloc_odd(unsigned class, intptr_t taken)
{
    struct ink_turn turn = ink_turn_begin(taken);
    void *p = turn.cache != NULL ? ink_cache_alloc(turn.cache, class, turn.me)
                                 : ink_cache_alloc_single(class, turn.me);

    ink_upkeep_if_due(&turn);
    ink_turn_end(&turn);
    return ink_perturb_new(p);
}

static inline void *ink_class_alloc(unsigned class, intptr_t taken)
{
    struct ink_thread *thread = ink_tls_thread;
    void *p;

    if (ink_unlikely(!ink_turn_is_plain(thread, taken)))
        return ink_class_alloc_odd(class, taken);
    p = ink_bin_alloc_batch(&thread->c1, class);
    if (ink_unlikely(p == NULL))
        return ink_class_alloc_odd(class, taken);
    ink_cache_put_back(taken);
    return p;
}

/* Up to INK_RANGE_MAX bytes and alignment.  *zeroed: whether the block is known to be zero. */
static void *ink_range_alloc(size_t bytes, size_t alignment, bool *zeroed)
{
    struct ink_turn turn = ink_turn_begin(ink_cache_take());
    unsigned units = bytes == 0 ? 1 : (unsigned)((bytes + INK_UNIT_BYTES - 1) / INK_UNIT_BYTES);
    unsigned alignment_units =
        alignment <= INK_UNIT_BYTES ? 1 : (unsigned)(alignment / INK_UNIT_BYTES);
    struct ink_run *run = ink_chunk_take(units, alignment_units, turn.me);
    void *p = NULL;

    if (run != NULL) {
        p = run->base;
        *zeroed = run->zeroed;
        ink_store_release(&run->state, INK_RUN_RANGE);
    }
    ink_upkeep_if_due(&turn);
    ink_turn_end(&turn);
    return p;
}

/* A fresh mapping is about to be touched: what lies free makes room. */
static void ink_large_taken(void)
{
    struct ink_turn turn = ink_turn_begin(ink_cache_take());

    ink_upkeep_if_due(&turn);
    ink_turn_end(&turn);
}

/* One try at what no bin serves. */
static void *ink_big_try(size_t bytes, size_t alignment, bool *zeroed)
{
    void *p;

    if (bytes <= INK_RANGE_MAX && alignment <= INK_RANGE_MAX)
        return ink_range_alloc(bytes, alignment, zeroed);
    p = ink_large_alloc(bytes, alignment, zeroed);
    if (ink_load_relaxed(&ink_dirty_room_wanted) != 0)
        ink_large_taken();
    return p;
}

static void *ink_big_alloc(size_t bytes, size_t alignment, bool *zeroed)
{
    void *p;

    if (bytes > INK_HEAP_BYTES_MAX || alignment > INK_HEAP_BYTES_MAX / 2)
        return NULL;
    p = ink_big_try(bytes, alignment, zeroed);
    if (ink_unlikely(p == NULL) && bytes <= INK_HEAP_BYTES_MAX - alignment) {
        (void)ink_trim(); /* the system refuses: give back what lies idle, and try once more */
        p = ink_big_try(bytes, alignment, zeroed);
    }
    return p;
}

static INK_COLD void *ink_class_alloc_again(unsigned class)
{
    (void)ink_trim(); /* also what serves other classes only */
    return ink_class_alloc_odd(class, ink_cache_take());
}

INK_NOINLINE void *ink_heap_alloc_taken(size_t class, intptr_t taken)
{
    void *p = ink_class_alloc((unsigned)class, taken);

    return ink_likely(p != NULL) ? p : ink_class_alloc_again((unsigned)class);
}

INK_NOINLINE void *ink_heap_alloc_big(size_t bytes)
{
    bool zeroed;

    INK_COUNT_CALL();
    return ink_perturb_new(ink_big_alloc(bytes, INK_ALIGNMENT, &zeroed));
}

void *ink_heap_alloc(size_t bytes)
{
    size_t class;
    intptr_t taken;
    void *p;

    if (ink_unlikely(bytes > INK_SMALL_MAX))
        return ink_heap_alloc_big(bytes);
    p = ink_cache_try_alloc(bytes, &class, &taken);
    return ink_likely(p != NULL) ? p : ink_heap_alloc_taken(class, taken);
}

void *ink_heap_alloc_zeroed(size_t bytes)
{
    bool zeroed = false;
    void *p;

    if (bytes <= INK_SMALL_MAX) {
        p = ink_heap_alloc(bytes);
    } else {
        INK_COUNT_CALL();
        p = ink_big_alloc(bytes, INK_ALIGNMENT, &zeroed);
    }
    if (p != NULL && !zeroed)
        memset(p, 0, bytes);
    return p;
}

void *ink_heap_alloc_aligned(size_t bytes, size_t alignment)
{
    bool zeroed;
    unsigned class;

    if (alignment <= INK_ALIGNMENT)
        return ink_heap_alloc(bytes);
    class = ink_class_for_aligned(bytes, alignment);
    if (class != INK_CLASS_NONE)
        return ink_heap_alloc(ink_size_classes[class].size);
    INK_COUNT_CALL();
    return ink_perturb_new(ink_big_alloc(bytes, alignment, &zeroed));
}

/* ---- pointers ---- */

/* What a pointer that the window does not know leads to. */
struct ink_block {
    struct ink_run *run; /* of a class or a range, or NULL: large or foreign */
    unsigned class;      /* of an item; 0 for everything else */
    const char *fault;   /* why p is none of our blocks; NULL: it may be one */
};

static const char *ink_range_fault(const struct ink_run *run, const void *p)
{
    enum ink_run_state state = ink_run_state(run);
    size_t offset = (size_t)((const char *)p - run->base);

    if (state == INK_RUN_RANGE)
        return offset == 0                   ? NULL
               : offset < ink_run_bytes(run) ? INK_FAULT_INTERIOR
                                             : INK_FAULT_FOREIGN;
    return INK_FAULT_DOUBLE; /* a block began or an item stood in these units, and they are free */
}

static struct ink_block ink_block_find(const void *p)
{
    struct ink_block block = {.run = ink_run_find(p)};

    if (((uintptr_t)p & (INK_ALIGNMENT - 1)) != 0) {
        block.fault = INK_FAULT_MISALIGNED;
    } else if (block.run == NULL) {
        block.fault = ink_large_usable(p) != 0 ? NULL : ink_large_fault(p);
    } else if (ink_run_state(block.run) == INK_RUN_CLASS) {
        block.class = ink_load_relaxed(&block.run->class);
        block.fault = ink_run_fault(block.run, block.class, p);
    } else {
        block.fault = ink_range_fault(block.run, p);
    }
    return block;
}

static void ink_range_free(struct ink_run *run, void *p, const char *function, struct ink_locker me)
{
    uint32_t state = INK_RUN_RANGE;

    /* Of two frees at once only one wins. */
    if (!ink_cas_acq_rel(&run->state, &state, INK_RUN_RETURNED))
        ink_die_misuse(INK_FAULT_DOUBLE, function, p);
    ink_chunk_give(run, me);
    ink_purge_excess(me);
}

/* Frees what is not an item; the class of what is. */
static unsigned ink_big_free(void *p, const char *function, struct ink_locker me)
{
    struct ink_block block = ink_block_find(p);

    if (block.fault == NULL && block.run == NULL)
        block.fault = ink_large_free(p);
    if (block.fault != NULL)
        ink_die_misuse(block.fault, function, p);
    if (block.class == 0 && block.run != NULL)
        ink_range_free(block.run, p, function, me);
    return block.class;
}

/* p is looked up first: what is no block must not be written to. */
static INK_COLD void ink_perturb_freed(void *p, int byte, const char *function)
{
    struct ink_block block = ink_block_find(p);

    if (block.fault != NULL)
        ink_die_misuse(block.fault, function, p);
    if (block.class != 0)
        memset(p, byte, ink_size_classes[block.class].size);
    else
        memset(p, byte, block.run != NULL ? ink_run_bytes(block.run) : ink_large_usable(p));
}

static INK_NOINLINE void ink_free_odd(void *p, size_t class, intptr_t taken, const char *function)
{
    unsigned perturb = ink_load_relaxed(&ink_turn_always);
    struct ink_turn turn;

    if (p == NULL) {
        ink_cache_put_back(taken);
        return;
    }
    if (ink_unlikely(perturb != 0))
        ink_perturb_freed(p, (int)(perturb & 255), function);
    turn = ink_turn_begin(taken);
    if (class == 0)
        class = ink_big_free(p, function, turn.me);
    if (class != 0 && turn.cache != NULL)
        ink_cache_free(turn.cache, (unsigned)class, p, turn.me);
    else if (class != 0)
        ink_cache_free_single((unsigned)class, p, turn.me);
    ink_upkeep_if_due(&turn);
    ink_turn_end(&turn);
}

static INK_NOINLINE void ink_surplus_pass_on(struct ink_thread *thread, unsigned class,
                                             struct ink_frame *surplus)
{
    struct ink_turn turn = {
        .thread = thread, .cache = &thread->c1, .me = ink_thread_locker(thread, true)};

    ink_cache_pass_on(turn.cache, class, surplus, turn.me);
    ink_upkeep_if_due(&turn);
}

INK_NOINLINE void ink_heap_free_taken(void *p, size_t class, intptr_t taken, const char *function)
{
    struct ink_thread *thread = ink_tls_thread;
    struct ink_frame *surplus;

    if (ink_unlikely(class == 0 || !ink_turn_is_plain(thread, taken)) ||
        ink_unlikely(!ink_bin_free_batch(&thread->c1, (unsigned)class, p, &surplus))) {
        ink_free_odd(p, class, taken, function);
        return;
    }
    if (ink_unlikely(surplus != NULL))
        ink_surplus_pass_on(thread, (unsigned)class, surplus);
    ink_cache_put_back(taken);
}

void ink_heap_free(void *p, const char *function)
{
    size_t class;
    intptr_t taken;

    if (ink_unlikely(!ink_cache_try_free(p, &class, &taken)))
        ink_heap_free_taken(p, class, taken, function);
}

size_t ink_heap_usable(const void *p, const char *function)
{
    size_t class = ink_window_class(p);
    struct ink_block block;

    if (ink_likely(class != 0))
        return ink_size_classes[class].size;
    if (p == NULL)
        return 0;
    block = ink_block_find(p);
    if (block.fault != NULL)
        ink_die_misuse(block.fault, function, p);
    if (block.class != 0)
        return ink_size_classes[block.class].size;
    return block.run != NULL ? ink_run_bytes(block.run) : ink_large_usable(p);
}

static void *ink_heap_move(void *p, size_t usable, size_t bytes)
{
    void *moved = ink_heap_alloc(bytes);

    if (moved == NULL)
        return bytes <= usable ? p : NULL; /* a block that need only shrink may stay as it is */
    memcpy(moved, p, usable < bytes ? usable : bytes);
    ink_heap_free(p, "realloc");
    return moved;
}

/* A large block that stays large grows and shrinks without a copy; if the kernel will not (the
 * program has changed the protection or the advice of a part of it), with one. */
static void *ink_large_resize(void *p, size_t usable, size_t bytes)
{
    const char *fault;
    void *moved;

    if (bytes > INK_HEAP_BYTES_MAX)
        return NULL;
    moved = ink_large_realloc(p, bytes, &fault);
    if (moved == NULL && fault == NULL && ink_options.limit_hard != 0) {
        (void)ink_trim(); /* what the caches hold may be what passes the limit */
        moved = ink_large_realloc(p, bytes, &fault);
    }
    if (fault != NULL)
        ink_die_misuse(fault, "realloc", p);
    return moved != NULL ? moved : ink_heap_move(p, usable, bytes);
}

void *ink_heap_realloc(void *p, size_t bytes)
{
    size_t usable = ink_heap_usable(p, "realloc");

    if (bytes <= usable && (usable <= 2 * bytes || usable == INK_ALIGNMENT))
        return p;
    if (usable > INK_RANGE_MAX && bytes > INK_RANGE_MAX)
        return ink_large_resize(p, usable, bytes);
    return ink_heap_move(p, usable, bytes);
}
