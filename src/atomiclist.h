/* InkAtomicList: an intrusive versioned stack of its caller's own items.  The link is a word inside
 * the item; a list neither allocates nor owns.
 *
 * Who may do what at the same time:
 *
 *            push    pop   pop_all  remove  empty
 *   push      yes    yes     yes     yes     yes
 *   pop       yes    yes     yes     no      yes
 *   pop_all   yes    yes     yes     no      yes
 *   remove    yes    no      no      no      yes
 *
 * so one thread alone does all pops, popalls and removes of a list on which items are removed.
 *
 * A late popper may still read the link of an item that somebody else has popped; what it reads is
 * never used.  Hence an item's memory must stay readable while any pop of the list is under way,
 * and its link must not be written but by this list meanwhile, or atomically.  Within one list an
 * item must stand at most once, and on one list per link at a time. */
#ifndef INK_ATOMICLIST_H
#define INK_ATOMICLIST_H

#include "cc.h"

/* Links are addresses, which want a head that holds a whole word: wide where that is one
 * instruction, else locked. */
#if !defined(INK_LIST_HEAD) && defined(INK_WIDE_INLINE)
#define INK_LIST_HEAD wide
#elif !defined(INK_LIST_HEAD)
#define INK_LIST_HEAD locked
#endif

#include "die.h"
#include "head.h"

#define ink_list_head        INK_TIER(INK_LIST_HEAD, head)
#define ink_list_snapshot_t  INK_TIER(INK_LIST_HEAD, snapshot_t)
#define ink_list_snapshot    INK_TIER(INK_LIST_HEAD, snapshot)
#define ink_list_top         INK_TIER(INK_LIST_HEAD, top)
#define ink_list_commit_pop  INK_TIER(INK_LIST_HEAD, commit_pop)
#define ink_list_commit_push INK_TIER(INK_LIST_HEAD, commit_push)

struct ink_atomiclist {
    _Alignas(INK_LINE_BYTES) struct ink_list_head head;
    const char *name; /* for whoever looks at it in a debugger; not copied */
    size_t offset;    /* of the link in an item, in bytes */
};

/* Written while the item is on no list, or by remove; read by late poppers: relaxed, the head's
 * version decides. */
typedef _Atomic uintptr_t ink_atomiclist_link_t;

/* An empty list whose items carry their link, a word aligned as one, offset bytes from their
 * beginning.  name lives as long as the list.  Before any other thread knows the list. */
static inline void ink_atomiclist_init(struct ink_atomiclist *list, const char *name, size_t offset)
{
    *list = (struct ink_atomiclist){.name = name, .offset = offset};
}

static inline ink_atomiclist_link_t *ink_atomiclist_link(const struct ink_atomiclist *list,
                                                         uintptr_t item)
{
    return (ink_atomiclist_link_t *)(item + list->offset);
}

/* True if the list held nothing a moment ago.  Any thread. */
static inline bool ink_atomiclist_empty(struct ink_atomiclist *list)
{
    return ink_list_top(ink_list_snapshot(&list->head)) == 0;
}

/* Puts the item on top; returns the item that was there before, NULL if there was none.  Any
 * thread. */
static inline void *ink_atomiclist_push(struct ink_atomiclist *list, void *item)
{
    ink_list_snapshot_t snapshot = ink_list_snapshot(&list->head);

    INK_ASSERT(
        (uintptr_t)ink_atomiclist_link(list, (uintptr_t)item) % sizeof(ink_atomiclist_link_t) == 0);
    do {
        INK_ASSERT(ink_list_top(snapshot) != (uintptr_t)item); /* pushed twice */
        ink_store_relaxed(ink_atomiclist_link(list, (uintptr_t)item), ink_list_top(snapshot));
        INK_BETWEEN();
    } while (!ink_list_commit_push(&list->head, &snapshot, (uintptr_t)item));
    return (void *)ink_list_top(snapshot);
}

/* Takes the item on top, its link cleared; NULL if there is none.  Any thread, but see above for
 * lists with remove. */
static inline void *ink_atomiclist_pop(struct ink_atomiclist *list)
{
    ink_list_snapshot_t snapshot = ink_list_snapshot(&list->head);
    uintptr_t next;

    do {
        if (ink_list_top(snapshot) == 0)
            return NULL;
        next = ink_load_relaxed(ink_atomiclist_link(list, ink_list_top(snapshot)));
        INK_BETWEEN();
    } while (!ink_list_commit_pop(&list->head, &snapshot, next));
    ink_store_relaxed(ink_atomiclist_link(list, ink_list_top(snapshot)), 0);
    return (void *)ink_list_top(snapshot);
}

/* Takes all items, the one pushed last first, chained by ink_atomiclist_next; NULL if there are
 * none.  Any thread, but see above for lists with remove. */
static inline void *ink_atomiclist_pop_all(struct ink_atomiclist *list)
{
    ink_list_snapshot_t snapshot = ink_list_snapshot(&list->head);

    do {
        if (ink_list_top(snapshot) == 0)
            return NULL;
        INK_BETWEEN();
    } while (!ink_list_commit_pop(&list->head, &snapshot, 0));
    return (void *)ink_list_top(snapshot);
}

/* The item behind one that pop_all returned, NULL behind the last. */
static inline void *ink_atomiclist_next(const struct ink_atomiclist *list, void *item)
{
    return (void *)ink_load_relaxed(ink_atomiclist_link(list, (uintptr_t)item));
}

/* Unlinks the item from below the top, where only the caller changes links. */
static inline void *ink_atomiclist_splice(struct ink_atomiclist *list, uintptr_t top,
                                          uintptr_t item)
{
    for (uintptr_t above = top, at; above != 0; above = at) {
        at = ink_load_relaxed(ink_atomiclist_link(list, above));
        if (at == item) {
            ink_store_relaxed(ink_atomiclist_link(list, above),
                              ink_load_relaxed(ink_atomiclist_link(list, item)));
            ink_store_relaxed(ink_atomiclist_link(list, item), 0);
            return (void *)item;
        }
    }
    return NULL;
}

/* Takes this item, its link cleared, wherever it stands on the list; NULL if it is not there.  Time
 * linear in the items above it.  The one thread that does all pops, popalls and removes of the
 * list, while others push. */
static inline void *ink_atomiclist_remove(struct ink_atomiclist *list, void *item)
{
    ink_list_snapshot_t snapshot = ink_list_snapshot(&list->head);

    if (item == NULL)
        return NULL;
    while (ink_list_top(snapshot) == (uintptr_t)item) {
        uintptr_t next = ink_load_relaxed(ink_atomiclist_link(list, (uintptr_t)item));

        INK_BETWEEN();
        if (ink_list_commit_pop(&list->head, &snapshot, next)) {
            ink_store_relaxed(ink_atomiclist_link(list, (uintptr_t)item), 0);
            return item;
        }
    }
    return ink_atomiclist_splice(list, ink_list_top(snapshot), (uintptr_t)item);
}

#endif
