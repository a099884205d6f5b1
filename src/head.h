/* A versioned head: the one word of a lock-free stack, removal guarded by a version against ABA.
 *
 * Every tier offers the same small interface; configure picks one (INK_HEAD_INDEX, ...), tests build all:
 *
 *   struct ink_head                     the head, constant-initialised to "empty"
 *   ink_head_snapshot(head)             what it holds now; acquires what the pushers of that state released
 *   ink_head_top(snapshot)              the index on top, 0 for empty
 *   ink_head_commit_pop(head, &s, next) top -> next, version + 1; fails, and renews s, if the head moved (acquire)
 *   ink_head_commit_push(head, &s, i)   i on top, version kept; fails, and renews s, if the head moved (release; acquire on failure: the renewed top
 *                                       is looked at, too)
 *   INK_HEAD_NAME                       what configure and malloc_stats print
 *
 * Snapshot and commit are separate so that a test can put anything between them.
 *
 * ABA: only removals advance the version.  A node leaves a list only by a removal, so a head that still equals the
 * snapshot never lost its top node, and that node's link is unchanged: links are written only while a node is off every
 * list.  This needs: heads changed by these commits alone, popall advancing the version too, 32 bits of version or more.
 * With 32 bits and 15 million pops a second a popper must stall for 286 s *and* meet the same index to be fooled. */
#ifndef INK_HEAD_H
#define INK_HEAD_H

#include "head_index.h"

#endif
