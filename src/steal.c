/* The thief's side of steal.h. */
#include "steal.h"
#include "bin.h"
#include "cache.h"
#include "os.h"

/* At an owner that is busy, with a yield between them: an operation takes less. */
enum { INK_STEAL_LOOKS = 64 };

/* The control (tests/race_steal.c) leaves out the barriers, and the system call that would give the
 * owner time to be seen. */
#ifdef INK_STEAL_WITHOUT_BARRIER
#define INK_STEAL_BARRIER() true
#define ink_os_word_is(address, value) \
    (*(const volatile uint32_t *)(const void *)(address) == (value))
#else
#define INK_STEAL_BARRIER() ink_os_barrier()
#endif

/* Set while the lock is held: what the thief knows of a record. */
enum ink_mark { INK_MARK_NONE, INK_MARK_SPARED, INK_MARK_SET, INK_MARK_IDLE };

static struct ink_lock ink_steal_lock;

/* The low half decides: the constants, whose distances are small, are told from a live cache by it
 * (a cache is some way off; if by chance it is not, it is never idle).  The full word would take
 * two calls. */
static bool ink_thread_is_idle(const struct ink_thread *thread)
{
    const _Atomic intptr_t *word = ink_load_relaxed(&thread->tls_cache);
    uint32_t distance = (uint32_t)ink_cache_distance(&thread->c1);
    size_t low = 0;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    low = sizeof *word - sizeof distance;
#endif
    if (distance <= (uint32_t)INK_CACHE_DEAD)
        return false;
    if (!ink_os_word_is((const char *)word + low, distance))
        return false;
#if INK_THREAD_SANITIZER
    (void)ink_load_acquire(word); /* the system call orders what the sanitizer does not see */
#endif
    return true;
}

static bool ink_thread_has_a_victim(const struct ink_thread *thread)
{
    return thread != ink_tls_thread && ink_load_acquire(&thread->state) == INK_THREAD_LIVE &&
           ink_load_relaxed(&thread->generation) == ink_os_generation();
}

/* True if the bin is marked, now or from an earlier attempt. */
static bool ink_bin_mark(struct ink_cache *cache, unsigned class)
{
    uintptr_t claim = ink_load_acquire(&cache->claim[class]);
    ink_slot_t *slot;

    if (claim != 0)
        return (claim & INK_CLAIM_WON) == 0;
    slot = ink_load_acquire(&cache->cursor[class]);
    if (slot == INK_NO_CURSOR || slot == INK_STOLEN_CURSOR)
        return false;
    ink_store_relaxed(&cache->claim[class], (uintptr_t)slot);
    INK_BETWEEN();
    if (ink_cas_acq_rel(&cache->cursor[class], &slot, INK_STOLEN_CURSOR))
        return true;
    ink_store_relaxed(&cache->claim[class], 0);
    return false;
}

static bool ink_cache_mark(struct ink_cache *cache)
{
    bool marked = false;

    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        marked = ink_bin_mark(cache, class) || marked;
    return marked;
}

/* The owner was idle after the mark. */
static void ink_bin_steal(struct ink_cache *cache, unsigned class, struct ink_locker me)
{
    uintptr_t claim = ink_load_acquire(&cache->claim[class]);
    ink_slot_t *mark = INK_STOLEN_CURSOR;
    ink_slot_t *row = (ink_slot_t *)claim;

    if (claim == 0 || (claim & INK_CLAIM_WON) != 0)
        return;
    if (ink_load_acquire(&cache->cursor[class]) != mark) {
        (void)ink_cas_acq_rel(&cache->claim[class], &claim, 0);
        return;
    }
    INK_BETWEEN();
    if (!ink_cas_acq_rel(&cache->claim[class], &claim, claim | INK_CLAIM_WON))
        return;
    (void)ink_cas_acq_rel(&cache->cursor[class], &mark, INK_NO_CURSOR);
    ink_row_give(class, row, me);
    ink_store_release(&cache->claim[class], 0);
}

static bool ink_thread_await_idle(const struct ink_thread *thread)
{
    for (int i = 0; i < INK_STEAL_LOOKS; i++) {
        if (ink_thread_is_idle(thread))
            return true;
        ink_os_yield();
    }
    return false;
}

static bool ink_steal_mark_all(void)
{
    bool marked = false;

    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next) {
        if (thread->mark == INK_MARK_NONE && ink_thread_has_a_victim(thread) &&
            ink_thread_is_idle(thread) && ink_cache_mark(&thread->c1)) {
            thread->mark = INK_MARK_SET;
            marked = true;
        }
    }
    return marked;
}

static void ink_steal_await_all(void)
{
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next)
        if (thread->mark == INK_MARK_SET && ink_thread_await_idle(thread))
            thread->mark = INK_MARK_IDLE;
}

static void ink_steal_take_all(struct ink_locker me)
{
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next)
        if (thread->mark == INK_MARK_IDLE)
            for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
                ink_bin_steal(&thread->c1, class, me);
}

/* The first barrier is a question: whether there is one at all must be known before anything is
 * marked.  The second is for the marks to be seen, the third, where loads may pass loads, for what
 * an owner did before it was idle. */
static void ink_steal_frames(struct ink_locker me)
{
    if (!INK_STEAL_BARRIER() || !ink_steal_mark_all() || !INK_STEAL_BARRIER())
        return;
    ink_steal_await_all();
    if (INK_WEAKLY_ORDERED && !INK_STEAL_BARRIER())
        return;
    ink_steal_take_all(me);
}

/* Under the lock: which threads are left alone. */
static void ink_steal_choose(bool idle_alone)
{
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next) {
        uint8_t turns = ink_load_relaxed(&thread->c1.turns);

        thread->mark = idle_alone && turns != thread->turns_seen ? INK_MARK_SPARED : INK_MARK_NONE;
        if (idle_alone)
            thread->turns_seen = turns;
    }
}

static bool ink_steal_is_there_anybody(void)
{
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next)
        if (ink_thread_has_a_victim(thread))
            return true;
    return false;
}

void ink_steal_caches(struct ink_locker me)
{
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next)
        ink_cache_drain_spares(&thread->c1, me);
    if (!ink_steal_is_there_anybody() || ink_lock_try(&ink_steal_lock, me) == INK_LOCK_BUSY)
        return;
    ink_steal_choose(false);
    ink_steal_frames(me);
    ink_lock_release(&ink_steal_lock, me);
}

/* What the bins can hold that have a frame loaded: about what can be had. */
static size_t ink_steal_bytes(struct ink_cache *cache)
{
    size_t bytes = 0;

    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        ink_slot_t *slot = ink_load_relaxed(&cache->cursor[class]);

        if (slot != INK_NO_CURSOR)
            bytes += (size_t)ink_size_classes[class].size * ink_size_classes[class].batch_items;
    }
    return bytes;
}

void ink_steal_idle_caches(size_t least, struct ink_locker me)
{
    size_t bytes = 0;

    if (ink_lock_try(&ink_steal_lock, me) == INK_LOCK_BUSY)
        return;
    ink_steal_choose(true);
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next)
        if (thread->mark == INK_MARK_NONE && ink_thread_has_a_victim(thread)) {
            ink_cache_drain_spares(&thread->c1, me);
            bytes += ink_steal_bytes(&thread->c1);
        }
    if (bytes >= least)
        ink_steal_frames(me);
    ink_lock_release(&ink_steal_lock, me);
}

void ink_steal_forget(struct ink_cache *cache)
{
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        if ((ink_load_relaxed(&cache->claim[class]) & INK_CLAIM_WON) != 0 ||
            ink_load_relaxed(&cache->cursor[class]) != INK_STOLEN_CURSOR)
            ink_store_relaxed(&cache->claim[class], 0);
}
