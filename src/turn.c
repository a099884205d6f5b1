/* Turns, and the life of a thread's record: made in its first turn, given up by the destructor of a
 * thread-specific key, taken from the dead in the child of a fork. */
#include "turn.h"
#include "cache.h"
#include "cache_fast.h"
#include "chunk.h"
#include "large_kept.h"
#include "os.h"
#include "steal.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

_Atomic unsigned ink_turn_always;

static void ink_thread_flush(struct ink_thread *thread, struct ink_locker me)
{
    struct ink_cache *inner[] = {ink_load_acquire(&thread->c2), ink_load_acquire(&thread->c3)};

    ink_cache_flush(&thread->c1, me);
    for (int i = 0; i < 2; i++)
        if (inner[i] != NULL) {
            ink_cache_flush(inner[i], me);
            ink_store_release(&inner[i]->taken, false); /* left so by a jump, or by a fork */
        }
}

/* Runs among the destructors of other keys, in any order: what those allocate and free afterwards
 * works as a dead thread's, slower but right. */
static void ink_thread_exit(void *record);

/* The key + 1; 0: none yet.  Of two that are made at once one is deleted again. */
static _Atomic uintptr_t ink_thread_key;

static bool ink_thread_make_key(pthread_key_t *key)
{
    uintptr_t known = ink_load_acquire(&ink_thread_key);

    if (known == 0) {
        if (pthread_key_create(key, ink_thread_exit) != 0)
            return false;
        if (ink_cas_acq_rel(&ink_thread_key, &known, (uintptr_t)*key + 1))
            return true;
        (void)pthread_key_delete(*key);
    }
    *key = (pthread_key_t)(known - 1);
    return true;
}

/* pthread_setspecific may allocate (keys from 32 on): an inner turn, as this is one.  Without a key
 * the record is used all the same, and stays behind when the thread ends. */
static void ink_thread_watch_exit(struct ink_thread *thread)
{
    int saved_errno = errno;
    pthread_key_t key;

    if (ink_thread_make_key(&key))
        (void)pthread_setspecific(key, thread);
    errno = saved_errno;
}

static void ink_thread_exit(void *record)
{
    struct ink_thread *thread = record;

    /* DEAD before the first bin is emptied: a handler in between must not fill one again. */
    ink_store_relaxed(&ink_tls_cache, INK_CACHE_DEAD);
    ink_signal_fence();
    ink_store_relaxed(&thread->state, INK_THREAD_EXITING);
    ink_thread_flush(thread, ink_thread_locker(thread, false));
    ink_tls_thread = NULL;
    ink_thread_release(thread);
}

/* In the child of a fork: what the vanished threads had cached becomes this thread's to give back.
 * Only the one thread that was there before the fork does it.  What was on its way between two
 * places at that moment is lost: at most a batch and a block a thread. */
static void ink_threads_adopt(struct ink_thread *mine, uint32_t generation)
{
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next) {
        uint32_t state = ink_load_acquire(&thread->state);

        if (thread == mine || (state != INK_THREAD_LIVE && state != INK_THREAD_EXITING))
            continue;
        if (ink_load_relaxed(&thread->generation) == generation)
            continue;
        ink_steal_forget(&thread->c1);
        ink_thread_flush(thread, ink_thread_locker(mine, true));
        ink_thread_release(thread);
    }
    ink_chunks_look_for_returned();
    ink_large_recount_kept();
}

/* This thread is the one that forked: the record is its own, of the generation before. */
static INK_COLD void ink_thread_notice_fork(struct ink_thread *thread, uint32_t generation)
{
    ink_store_relaxed(&thread->generation, generation);
    ink_lock_owner_is_back();
    ink_steal_forget(&thread->c1);
    ink_threads_adopt(thread, generation);
}

/* Runs with the cache taken, so that whatever re-enters meanwhile gets along without. */
static INK_COLD struct ink_thread *ink_thread_make(void)
{
    uint32_t generation = ink_os_generation();
    bool orphans;
    struct ink_thread *thread = ink_thread_acquire(ink_os_self(), generation, &orphans);

    if (thread == NULL)
        return NULL;
    ink_tls_thread = thread;
    ink_signal_fence();
    ink_thread_watch_exit(thread);
    /* A child whose only thread had no record before the fork. */
    if (orphans && ink_os_is_first_thread())
        ink_threads_adopt(thread, generation);
    return thread;
}

static struct ink_turn ink_turn_begin_outermost(intptr_t taken)
{
    struct ink_turn turn = {.thread = ink_tls_thread, .taken = taken};
    uint32_t generation = ink_os_generation();

    if (ink_unlikely(turn.thread == NULL))
        turn.thread = ink_thread_make();
    if (turn.thread == NULL) {
        turn.me = (struct ink_locker){.owner = INK_LOCK_ANONYMOUS, .outermost = false};
        return turn;
    }
    if (ink_unlikely(ink_load_relaxed(&turn.thread->generation) != generation))
        ink_thread_notice_fork(turn.thread, generation);
    turn.cache = &turn.thread->c1;
    turn.me = ink_thread_locker(turn.thread, true);
    return turn;
}

static INK_COLD struct ink_turn ink_turn_begin_inner(intptr_t taken)
{
    struct ink_turn turn = {.thread = ink_tls_thread, .taken = taken};

    if (taken == INK_CACHE_DEAD)
        turn.thread = NULL;
    if (turn.thread == NULL) {
        turn.me = (struct ink_locker){.owner = INK_LOCK_ANONYMOUS, .outermost = false};
        return turn;
    }
    if (ink_load_relaxed(&turn.thread->generation) != ink_os_generation())
        ink_lock_owner_is_suspended(turn.thread->number);
    turn.cache = ink_thread_take_inner_cache(turn.thread);
    turn.me = ink_thread_locker(turn.thread, false);
    return turn;
}

struct ink_turn ink_turn_begin(intptr_t taken)
{
    if (ink_unlikely(taken == INK_CACHE_BUSY || taken == INK_CACHE_DEAD))
        return ink_turn_begin_inner(taken);
    return ink_turn_begin_outermost(taken);
}

void ink_turn_end(const struct ink_turn *turn)
{
    intptr_t put_back = turn->taken;

    if (turn->taken == INK_CACHE_BUSY) {
        if (turn->cache != NULL)
            ink_store_release(&turn->cache->taken, false);
    } else if (turn->taken != INK_CACHE_DEAD) {
        put_back = turn->cache != NULL && ink_load_relaxed(&ink_turn_always) == 0
                       ? ink_cache_distance(turn->cache)
                       : INK_CACHE_EMPTY;
    }
    ink_cache_put_back(put_back);
}
