/* Head tier "locked": every change is made under a lock, on any machine, without a compare-and-swap
 * wider than 32 bits.  A link may be any word.  See head.h for the interface.
 *
 * The lock is one of lock.h, so a fork cannot leave it held.  What this tier cannot promise, and
 * the index does:
 *   - progress while a thread is preempted inside a commit: the others wait for it;
 *   - malloc and free from a signal handler that interrupted a commit of the same thread: it waits
 *     for ever, and if it has forked, in the child it takes the lock over and the node that the
 *     interrupted commit takes too;
 *   - a jump (siglongjmp) out of a handler that interrupted a commit: the lock stays held. */
#ifndef INK_HEAD_LOCKED_H
#define INK_HEAD_LOCKED_H

#include "cc.h"
#include "lock.h"

typedef uintptr_t ink_locked_link_t;

struct ink_locked_head {
    struct ink_lock lock;
    /* Written under the lock, top before version; read by anyone, version before top. */
    _Atomic uint32_t version;
    _Atomic ink_locked_link_t top;
};

typedef struct {
    uint32_t version;
    ink_locked_link_t top;
} ink_locked_snapshot_t;

/* Heads are older than thread records, so whoever holds one has no name: any other generation's
 * word is stale, no word of this one is. */
static const struct ink_locker ink_locked_holder = {.owner = INK_LOCK_ANONYMOUS,
                                                    .outermost = false};

/* A new version implies the new top: a removal between the two loads makes the commit fail. */
static inline ink_locked_snapshot_t ink_locked_snapshot(struct ink_locked_head *head)
{
    uint32_t version = ink_load_acquire(&head->version);

    return (ink_locked_snapshot_t){.version = version, .top = ink_load_acquire(&head->top)};
}

static inline ink_locked_link_t ink_locked_top(ink_locked_snapshot_t snapshot)
{
    return snapshot.top;
}

static inline uint64_t ink_locked_version(ink_locked_snapshot_t snapshot)
{
    return snapshot.version;
}

static inline void ink_locked_enter(struct ink_locked_head *head)
{
    enum ink_lock_answer answer;

    while ((answer = ink_lock_take(&head->lock, ink_locked_holder)) == INK_LOCK_BUSY)
        continue;
    /* A removal may have been cut short between top and version. */
    if (ink_unlikely(answer == INK_LOCK_STALE))
        ink_store_release(&head->version, ink_load_relaxed(&head->version) + 1);
}

static inline bool ink_locked_commit(struct ink_locked_head *head, ink_locked_snapshot_t *snapshot,
                                     uint32_t version, ink_locked_link_t top)
{
    ink_locked_snapshot_t seen;
    bool same;

    ink_locked_enter(head);
    seen = ink_locked_snapshot(head);
    same = seen.version == snapshot->version && seen.top == snapshot->top;
    if (same) {
        ink_store_release(&head->top, top);
        ink_store_release(&head->version, version);
    }
    ink_lock_release(&head->lock, ink_locked_holder);
    *snapshot = same ? *snapshot : seen;
    return same;
}

static inline bool ink_locked_commit_pop(struct ink_locked_head *head,
                                         ink_locked_snapshot_t *snapshot, ink_locked_link_t next)
{
    return ink_locked_commit(head, snapshot, snapshot->version + 1, next);
}

static inline bool ink_locked_commit_push(struct ink_locked_head *head,
                                          ink_locked_snapshot_t *snapshot, ink_locked_link_t node)
{
    return ink_locked_commit(head, snapshot, snapshot->version, node);
}

#endif
