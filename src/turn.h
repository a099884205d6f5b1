/* A turn: one slow operation of one thread, from taking the cache to putting it back.
 *
 * The turn knows which cache the operation may use and as whom it locks:
 *
 *   outermost   the thread's c1; the operation took it out of ink_tls_cache itself, so none of this
 *               thread lies interrupted beneath.  Only such a turn makes a thread's record, notices
 *               a fork and takes over locks that bear the thread's own name.
 *   inner       ink_tls_cache was BUSY: the operation interrupted another (or one was left by a
 *               jump: that cannot be told).  c2 or c3, else none.
 *   dead        the thread has ended as far as we are concerned: no cache, no name. */
#ifndef INK_TURN_H
#define INK_TURN_H

#include "cc.h"
#include "lock.h"
#include "os.h"
#include "thread.h"

struct ink_turn {
    struct ink_thread *thread; /* NULL: none could be made, or none must be */
    struct ink_cache *cache;   /* NULL: work through the shared lists */
    intptr_t taken;            /* what ink_tls_cache held */
    struct ink_locker me;
};

static inline struct ink_locker ink_thread_locker(const struct ink_thread *thread, bool outermost)
{
    return (struct ink_locker){.owner = thread->number, .outermost = outermost};
}

/* While not 0, outermost turns put the constant empty cache back instead of the thread's own: each
 * operation is a turn, and the fast paths need no test for what only turns do.  Any thread may
 * write; a thread follows with its next turn.  What else the value says is up to who writes it. */
extern INK_HIDDEN _Atomic unsigned ink_turn_always;

/* The usual case, for which the rest of a turn can be left out: an outermost operation of a thread
 * that has its record, in the process that it was made in.  The cache is put back with what was
 * taken.  thread is ink_tls_thread, which may be NULL. */
static inline bool ink_turn_is_plain(const struct ink_thread *thread, intptr_t taken)
{
    /* c1 comes first in the record. */
    return taken == ink_cache_distance((const struct ink_cache *)thread) &&
           ink_load_relaxed(&thread->generation) == ink_os_generation() &&
           ink_load_relaxed(&ink_turn_always) == 0;
}

/* Begins a turn.  taken is what ink_cache_take returned.  Any thread, any signal handler, any
 * time. */
struct ink_turn ink_turn_begin(intptr_t taken);

/* Ends it: puts the cache back. */
void ink_turn_end(const struct ink_turn *turn);

#endif
