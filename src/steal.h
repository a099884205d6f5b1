/* Stealing: what other threads have loaded in their caches, taken from them while they are not
 * looking.
 *
 * The fast paths move a cursor with plain loads and stores and know nothing of this; so a thief
 * must be sure that no operation of the owner is under way that has read the cursor before the mark
 * and will store it after.  Per bin there is a claim (ink_cache.claim), written before the cursor
 * is marked:
 *
 *   claim   cursor               the frame is
 *   0       any                  the owner's
 *   o       o                    the owner's: a thief is about to mark
 *   o       STOLEN               the owner's, unless the thief wins: whoever moves the claim from o
 *           first, to 0 (owner) or to o|WON (thief)
 *   o       another              the owner's: it has stored over the mark
 *   o|WON   STOLEN or NO_CURSOR  the thief's
 *
 *   thief   claim = o; cursor: o -> STOLEN; barrier in all threads; see the owner idle; cursor
 *           still STOLEN: claim: o -> o|WON; take the frame; claim = 0
 *   owner   on its slow paths, which STOLEN leads into: ink_bin_cursor
 *
 * Idle is: ink_tls_cache holds the distance of this very cache.  After the barrier, an operation
 * that began before the mark is seen (not idle), and one that begins later sees the mark.  An owner
 * that stays busy keeps the mark, and the next thief goes on from there; it is never undone from
 * outside.
 *
 * Without a barrier (ink_os_barrier) nothing is stolen.  tests/race_steal runs all of this, and
 * without the barrier must fail. */
#ifndef INK_STEAL_H
#define INK_STEAL_H

#include "cc.h"
#include "lock.h"
#include "thread.h"

/* Sends what other threads have in their caches down to the runs: what they have loaded as far as
 * they are idle, and what waits in any case.  One thief at a time; others leave at once.  Any
 * thread; outside of any lock. */
void ink_steal_caches(struct ink_locker me);

/* The same for threads that have made no slow operation since this was last called, if they have
 * loaded so many bytes.  One caller at a time. */
void ink_steal_idle_caches(size_t least, struct ink_locker me);

/* In the child of a fork, of a record whose thread is gone or is the only one: no thief is left. */
void ink_steal_forget(struct ink_cache *cache);

#endif
