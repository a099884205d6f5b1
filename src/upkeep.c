/* What is due, in the order in which it brings most. */
#include "upkeep.h"
#include "large.h"
#include "large_kept.h"
#include "options.h"
#include "purge.h"

/* Above the soft limit free pages between live items go as well, again with each sixteenth that is
 * in use beyond it. */
static void ink_upkeep_squeeze(void)
{
    static _Atomic size_t squeezed;
    size_t used = ink_large_used_bytes(), last = ink_load_relaxed(&squeezed);

    if (!ink_dirty_is_above_soft_limit(ink_chunk_used_bytes())) {
        ink_store_relaxed(&squeezed, 0);
    } else if (used > last + last / 16) {
        ink_store_relaxed(&squeezed, used);
        ink_collapse_want();
    }
}

static void ink_upkeep_make_room(const struct ink_turn *turn)
{
    unsigned room = ink_load_relaxed(&ink_dirty_room_wanted);

    if (room == 0)
        return;
    ink_store_relaxed(&ink_dirty_room_wanted, 0);
    ink_large_make_room();
    if (room == INK_ROOM_FROM_ALL)
        ink_purge_make_room(turn->me);
    if (ink_options.limit_soft != 0)
        ink_upkeep_squeeze();
}

void ink_upkeep(const struct ink_turn *turn)
{
    ink_upkeep_make_room(turn);
    if (ink_collapse_is_due())
        ink_collapse_step(turn);
    ink_decay_step(turn);
}
