/* A versioned head: what a stack of nodes hangs on, removal guarded by a version against ABA.
 *
 * Three tiers offer the same small interface; configure picks the one behind the names ink_head...,
 * each is there under its own name (ink_index_head, ink_wide_head, ink_locked_head) as well, and
 * all of them are built and tested:
 *
 *   struct ink_head                     the head, constant-initialised to "empty" by zeros
 *   ink_head_link_t                     names a node; 0 names none.  32 bits (index) or a machine
 *                                       word (wide, locked)
 *   ink_head_snapshot(head)             what it holds now; acquires what the pushers of that state
 *                                       released
 *   ink_head_top(snapshot)              the node on top, 0 for empty
 *   ink_head_version(snapshot)          the ABA tag: to look at in tests, nothing else may hang on
 *                                       it
 *   ink_head_commit_pop(head, &s, next) top -> next, version + 1; fails, and renews s, if the head
 *   moved (acquire)
 *   ink_head_commit_push(head, &s, n)   n on top, version kept; fails, and renews s, if the head
 *                                       moved (release; acquire on failure: the renewed top is
 *                                       looked at, too)
 *   INK_HEAD_NAME                       what configure and malloc_stats print
 *
 * Snapshot and commit are separate so that a test can put anything between them: see INK_BETWEEN in
 * cc.h.
 *
 * ABA: only removals advance the version.  A node leaves a list only by a removal, so a head that
 * still equals the snapshot never lost its top node, and that node's link is unchanged: links are
 * written only while a node is off every list.  This needs: heads changed by these commits alone,
 * popall advancing the version too, 32 bits of version or more.  With 32 bits and 15 million pops a
 * second a popper must stall for 286 s *and* meet the same index to be fooled. */
#ifndef INK_HEAD_H
#define INK_HEAD_H

#include "head_index.h"
#include "head_locked.h"
#if defined(INK_WIDE_INLINE) || defined(INK_WIDE_LIBATOMIC)
#include "head_wide.h"
#endif

/* What configure was told, unless a test is built with another one. */
#ifndef INK_HEAD
#define INK_HEAD INK_DEFAULT_HEAD
#endif

#define INK_TIER_PASTE(tier, name) ink_##tier##_##name
#define INK_TIER(tier, name)       INK_TIER_PASTE(tier, name)
#define INK_TIER_STRING_OF(tier)   #tier
#define INK_TIER_STRING(tier)      INK_TIER_STRING_OF(tier)

#define INK_HEAD_NAME        INK_TIER_STRING(INK_HEAD)
#define ink_head             INK_TIER(INK_HEAD, head)
#define ink_head_link_t      INK_TIER(INK_HEAD, link_t)
#define ink_head_snapshot_t  INK_TIER(INK_HEAD, snapshot_t)
#define ink_head_snapshot    INK_TIER(INK_HEAD, snapshot)
#define ink_head_top         INK_TIER(INK_HEAD, top)
#define ink_head_version     INK_TIER(INK_HEAD, version)
#define ink_head_commit_pop  INK_TIER(INK_HEAD, commit_pop)
#define ink_head_commit_push INK_TIER(INK_HEAD, commit_push)

/* The node on top of a list whose nodes have 32-bit numbers. */
static inline uint32_t ink_head_top_index(ink_head_snapshot_t snapshot)
{
    return (uint32_t)ink_head_top(snapshot);
}

#endif
