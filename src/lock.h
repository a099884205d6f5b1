/* Locks that a fork cannot leave held: a word names the generation and the thread that holds it,
 * and a word of another generation *is* unlocked.  Nothing is locked before a fork and nothing is
 * reset after one.
 *
 * Whoever takes over such a word finds what the lock guards half-changed: the call says so, and the
 * caller rebuilds it from the truth (bitmaps, run states) before it goes on.
 *
 * No wait is unbounded: ink_lock_take gives up after a few milliseconds (the holder may be
 * suspended, or lie interrupted beneath this very call), and its caller goes another way. */
#ifndef INK_LOCK_H
#define INK_LOCK_H

#include "cc.h"

/* 1 .. 2^22 - 1: a thread record's number; INK_LOCK_ANONYMOUS for a thread that has none. */
typedef uint32_t ink_lock_owner_t;

enum { INK_LOCK_OWNER_BITS = 22, INK_LOCK_ANONYMOUS = (1 << INK_LOCK_OWNER_BITS) - 1 };

/* Who asks.  outermost: no other operation of this thread lies interrupted beneath this one, so a
 * word that bears its own name was left by a thread that had the number before.  (A thread that
 * jumped out of an operation is never outermost again: its word stands until it ends.) */
struct ink_locker {
    ink_lock_owner_t owner;
    bool outermost;
};

struct ink_lock {
    /* 0: free; else {generation:10 | owner:22}.  Taken by compare-and-swap (acquire), given back by
     * compare-and-swap (release). */
    _Atomic uint32_t word;
};

enum ink_lock_answer {
    INK_LOCK_BUSY,  /* not taken */
    INK_LOCK_TAKEN, /* taken, what it guards is whole */
    INK_LOCK_STALE, /* taken from an owner that is gone: repair first */
};

/* Says that owner lies interrupted in an operation of an older generation: it is running in the
 * child of a fork that one of its signal handlers made, and will go on inside what it had locked.
 * Its words of older generations are not taken over until ink_lock_owner_is_back. */
void ink_lock_owner_is_suspended(ink_lock_owner_t owner);
void ink_lock_owner_is_back(void);

/* Takes it if it is free, at once. */
enum ink_lock_answer ink_lock_try(struct ink_lock *lock, struct ink_locker me);

/* Takes it, waiting a few milliseconds at most. */
enum ink_lock_answer ink_lock_take(struct ink_lock *lock, struct ink_locker me);

/* True if it is held by an operation of this thread that lies interrupted beneath: it cannot be
 * given back while we wait. */
bool ink_lock_is_beneath(struct ink_lock *lock, struct ink_locker me);

/* Gives it back.  Harmless if the word was taken over in the meantime (a handler forked inside, and
 * this is the child). */
void ink_lock_release(struct ink_lock *lock, struct ink_locker me);

#endif
