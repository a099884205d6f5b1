/* Upkeep: what has become due besides what was asked for is done at the end of a slow operation,
 * outside of all locks. */
#ifndef INK_UPKEEP_H
#define INK_UPKEEP_H

#include "cc.h"
#include "collapse.h"
#include "decay.h"
#include "dirty.h"
#include "turn.h"

/* Does what is due. */
void ink_upkeep(const struct ink_turn *turn);

static inline void ink_upkeep_if_due(const struct ink_turn *turn)
{
    if (ink_unlikely(ink_load_relaxed(&ink_dirty_room_wanted) != 0) ||
        ink_unlikely(ink_collapse_is_due()) || ink_unlikely(ink_decay_may_be_due(turn->thread)))
        ink_upkeep(turn);
}

#endif
