/* What is due, in the order in which it brings most. */
#include "upkeep.h"
#include "large.h"
#include "purge.h"

static void ink_upkeep_make_room(const struct ink_turn *turn)
{
    unsigned room = ink_load_relaxed(&ink_dirty_room_wanted);

    if (room == 0)
        return;
    ink_store_relaxed(&ink_dirty_room_wanted, 0);
    ink_large_make_room();
    if (room == INK_ROOM_FROM_ALL)
        ink_purge_make_room(turn->me);
}

void ink_upkeep(const struct ink_turn *turn)
{
    ink_upkeep_make_room(turn);
    if (ink_collapse_is_due())
        ink_collapse_step(turn);
}
