/* Generation locks: see lock.h. */
#include "lock.h"
#include "os.h"

enum {
    INK_LOCK_SPINS = 64,  /* a holder that runs needs 0.2 to 0.4 us */
    INK_LOCK_YIELDS = 16, /* a holder that waits for this processor may have it */
    INK_LOCK_WAITS = 40,  /* of about 50 to 100 us: a holder that was preempted */
};

/* The one thread of an older generation that still runs, or 0.  Written by that thread in the
 * child, before it can start another. */
static _Atomic uint32_t ink_lock_suspended_owner;

void ink_lock_owner_is_suspended(ink_lock_owner_t owner)
{
    ink_store_release(&ink_lock_suspended_owner, owner);
}

void ink_lock_owner_is_back(void)
{
    ink_store_release(&ink_lock_suspended_owner, 0);
}

static uint32_t ink_lock_word(struct ink_locker me)
{
    return ink_os_generation() << INK_LOCK_OWNER_BITS | me.owner;
}

/* A word of this very thread is stale only when no operation lies interrupted beneath this one,
 * whatever its generation: a handler that forks inside an operation returns into it in the
 * child. */
static bool ink_lock_word_is_stale(uint32_t word, uint32_t mine, struct ink_locker me)
{
    uint32_t owner = word & INK_LOCK_ANONYMOUS;
    bool own = owner == me.owner && owner != INK_LOCK_ANONYMOUS;

    if (own && !me.outermost)
        return false;
    if (word >> INK_LOCK_OWNER_BITS != mine >> INK_LOCK_OWNER_BITS)
        return owner != ink_load_acquire(&ink_lock_suspended_owner);
    return own;
}

enum ink_lock_answer ink_lock_try(struct ink_lock *lock, struct ink_locker me)
{
    uint32_t word = ink_load_relaxed(&lock->word);
    uint32_t mine = ink_lock_word(me);
    bool stale = word != 0 && ink_lock_word_is_stale(word, mine, me);

    if (word != 0 && !stale)
        return INK_LOCK_BUSY;
    if (!ink_cas_acquire(&lock->word, &word, mine))
        return INK_LOCK_BUSY;
    return stale ? INK_LOCK_STALE : INK_LOCK_TAKEN;
}

bool ink_lock_is_beneath(struct ink_lock *lock, struct ink_locker me)
{
    return !me.outermost && me.owner != INK_LOCK_ANONYMOUS &&
           (ink_load_relaxed(&lock->word) & INK_LOCK_ANONYMOUS) == me.owner;
}

static inline void ink_lock_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

enum ink_lock_answer ink_lock_take(struct ink_lock *lock, struct ink_locker me)
{
    for (int i = 0; i < INK_LOCK_SPINS + INK_LOCK_YIELDS + INK_LOCK_WAITS; i++) {
        enum ink_lock_answer answer = ink_lock_try(lock, me);

        if (answer != INK_LOCK_BUSY)
            return answer;
        if (ink_lock_is_beneath(lock, me))
            return INK_LOCK_BUSY;
        if (i < INK_LOCK_SPINS)
            ink_lock_pause();
        else if (i < INK_LOCK_SPINS + INK_LOCK_YIELDS)
            ink_os_yield();
        else
            ink_os_wait(&lock->word, ink_load_relaxed(&lock->word));
    }
    return INK_LOCK_BUSY;
}

void ink_lock_release(struct ink_lock *lock, struct ink_locker me)
{
    uint32_t word = ink_load_relaxed(&lock->word);

    /* Of whatever generation: the critical section may have lasted across a fork. */
    if ((word & INK_LOCK_ANONYMOUS) == me.owner)
        (void)ink_cas_release(&lock->word, &word, 0);
}
