/* Decay: free memory that nobody has needed for options.decay seconds goes back, although as much
 * may stay.
 *
 * There is no clock of our own: slow operations look at the system's now and then, where there is
 * something to gain, and twice in that time one of them makes a tick.
 *
 *   free units, kept large blocks   the least that was dirty during the last two half periods goes,
 *                                   in steps
 *   caches of idle threads          go down to the runs: of threads without a slow operation since
 *                                   the last tick
 *   free pages between live items   if much of the runs has been free for two ticks, as after a
 *                                   collapse (collapse.h) */
#ifndef INK_DECAY_H
#define INK_DECAY_H

#include "cc.h"
#include "options.h"
#include "thread.h"
#include "turn.h"

/* Slow operations of a thread: a system call costs up to a microsecond. */
enum { INK_DECAY_LOOK_EVERY = 64 };

/* Bytes that the last tick has left to be purged; see ink_decay_step. */
extern INK_HIDDEN _Atomic size_t ink_decay_left;

/* Counts a slow operation of the thread, which may be NULL; whether it is time to call
 * ink_decay_step. */
static inline bool ink_decay_may_be_due(struct ink_thread *thread)
{
    if (ink_load_relaxed(&ink_decay_left) != 0)
        return true;
    if (ink_unlikely(thread == NULL))
        return false;
    ink_store_relaxed(&thread->c1.turns, (uint8_t)(ink_load_relaxed(&thread->c1.turns) + 1));
    return ink_load_relaxed(&thread->c1.turns) % INK_DECAY_LOOK_EVERY == 0;
}

/* Makes a tick if one is due, and purges a few MiB of what was left.  Any thread, in its turn,
 * outside of any lock. */
void ink_decay_step(const struct ink_turn *turn);

/* A tick: decides what is to be purged.  One thread at a time. */
void ink_decay_tick(const struct ink_turn *turn);

#endif
