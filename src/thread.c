/* Thread records and the constant caches. */
#include "thread.h"
#include "meta.h"

const struct ink_frame ink_zero_frame, ink_stolen_frame;

#define INK_CLASS_OF_STEPS(class, bytes, below) \
    [(below) / INK_ALIGNMENT + 1 ...(bytes) / INK_ALIGNMENT] = (class),
#define INK_CLASS_OF_BYTES(class, bytes, below) [(below) + 1 ...(bytes)] = (class),
#define INK_NO_CURSORS                                                             \
    {                                                                              \
        [0 ... INK_CLASS_SLOTS - 1] = (ink_slot_t *)(uintptr_t)ink_zero_frame.slot \
    }

const struct ink_constants ink_constants = {
    .class_of_byte = {[0] = 1, INK_TINY_SIZE_CLASSES(INK_CLASS_OF_BYTES)},
    .class_of_step = {[0] = 1, INK_SIZE_CLASSES(INK_CLASS_OF_STEPS)},
    .empty = INK_NO_CURSORS,
    .busy = INK_NO_CURSORS,
    .dead = INK_NO_CURSORS,
};

static_assert(offsetof(struct ink_constants, busy) - offsetof(struct ink_constants, empty) ==
                  sizeof(ink_constants.empty),
              "distances of the constant caches");
static_assert(offsetof(struct ink_cache, cursor) == 0, "a cache is known by its cursors");

__thread _Atomic intptr_t ink_tls_cache __attribute__((tls_model("initial-exec")));
__thread struct ink_thread *ink_tls_thread __attribute__((tls_model("initial-exec")));

/* Push-only. */
static _Atomic(struct ink_thread *) ink_threads;
static _Atomic uint32_t ink_thread_count;
static _Atomic unsigned ink_thread_live;

unsigned ink_thread_live_count(void)
{
    return ink_load_relaxed(&ink_thread_live);
}

struct ink_thread *ink_thread_first(void)
{
    return ink_load_acquire(&ink_threads);
}

static void ink_cache_init(struct ink_cache *cache)
{
    for (unsigned class = 0; class < INK_CLASS_SLOTS; class ++)
        ink_store_relaxed(&cache->cursor[class], INK_NO_CURSOR);
}

/* LIVE is written last: whoever sees it sees whose record it is. */
static void ink_thread_become_live(struct ink_thread *thread, uintptr_t self, uint32_t generation)
{
    ink_store_relaxed(&thread->self, self);
    ink_store_relaxed(&thread->generation, generation);
    ink_store_relaxed(&thread->tls_cache, &ink_tls_cache);
    (void)ink_add_relaxed(&ink_thread_live, 1);
    ink_store_release(&thread->state, INK_THREAD_LIVE);
}

static bool ink_thread_try_free(struct ink_thread *thread)
{
    uint32_t state = INK_THREAD_FREE;

    return ink_load_relaxed(&thread->state) == INK_THREAD_FREE &&
           ink_cas_acq_rel(&thread->state, &state, INK_THREAD_TAKEN);
}

static struct ink_thread *ink_thread_new(uintptr_t self, uint32_t generation)
{
    struct ink_thread *thread = ink_meta_alloc(sizeof *thread, INK_LINE_BYTES);
    struct ink_thread *first = ink_thread_first();

    if (thread == NULL)
        return NULL;
    ink_cache_init(&thread->c1);
    thread->number = ink_add_relaxed(&ink_thread_count, 1) % (INK_LOCK_ANONYMOUS - 1) + 1;
    ink_thread_become_live(thread, self, generation);
    do
        thread->next = first;
    while (!ink_cas_acq_rel(&ink_threads, &first, thread));
    return thread;
}

struct ink_thread *ink_thread_acquire(uintptr_t self, uint32_t generation, bool *orphans)
{
    struct ink_thread *mine = NULL;

    *orphans = false;
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next) {
        if (ink_load_acquire(&thread->state) != INK_THREAD_LIVE)
            continue;
        if (ink_load_relaxed(&thread->generation) != generation)
            *orphans = true;
        else if (ink_load_relaxed(&thread->self) == self)
            mine = thread;
    }
    if (mine != NULL)
        return mine;
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next)
        if (ink_thread_try_free(thread)) {
            ink_thread_become_live(thread, self, generation);
            return thread;
        }
    return ink_thread_new(self, generation);
}

void ink_thread_release(struct ink_thread *thread)
{
    ink_store_relaxed(&thread->self, 0);
    (void)ink_sub_relaxed(&ink_thread_live, 1);
    ink_store_release(&thread->state, INK_THREAD_FREE);
}

static struct ink_cache *ink_thread_try_inner(_Atomic(struct ink_cache *) *place)
{
    struct ink_cache *cache = ink_load_acquire(place);

    if (cache == NULL) {
        struct ink_cache *fresh = ink_meta_alloc(sizeof *fresh, INK_LINE_BYTES);

        if (fresh == NULL)
            return NULL;
        ink_cache_init(fresh);
        if (ink_cas_acq_rel(place, &cache, fresh))
            cache = fresh;
    }
    return ink_exchange_acq_rel(&cache->taken, true) ? NULL : cache;
}

struct ink_cache *ink_thread_take_inner_cache(struct ink_thread *thread)
{
    struct ink_cache *cache = ink_thread_try_inner(&thread->c2);

    return cache != NULL ? cache : ink_thread_try_inner(&thread->c3);
}
