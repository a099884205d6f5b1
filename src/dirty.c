/* The allowance of dirty memory. */
#include "dirty.h"
#include "options.h"
#include "os.h"

#define INK_DIRTY_REGRET_MAX ((size_t)64 * INK_MIB)

enum {
    INK_DIRTY_SLACK = 16,
    INK_DIRTY_SHARE = 8,
    INK_DIRTY_REGRET_SHARE = 4,
    INK_DIRTY_HALF_LIFE_MS = 1000
};

/* Written by whoever regrets or forgives; of two at once one may be lost, which makes a little less
 * or more stay. */
static _Atomic size_t ink_dirty_regretted;
static _Atomic size_t ink_dirty_peak;
static _Atomic uint32_t ink_dirty_forgiven_ms;
static _Atomic size_t ink_dirty_large_bytes, ink_dirty_large_live;
/* As much as nobody needed; one that is stored late makes a little more go or stay. */
static _Atomic size_t ink_dirty_large_low;

/* The most that has been in use lately. */
static size_t ink_dirty_note_peak(size_t used)
{
    size_t peak = ink_load_relaxed(&ink_dirty_peak);

    if (used <= peak)
        return peak;
    ink_store_relaxed(&ink_dirty_peak, used);
    return used;
}

static size_t ink_dirty_used(size_t chunks)
{
    return chunks + ink_load_relaxed(&ink_dirty_large_live);
}

/* Whether so much in use is within the hard limit. */
static bool ink_dirty_is_within(size_t used)
{
    return ink_likely(ink_options.limit_hard == 0) || used <= ink_options.limit_hard;
}

bool ink_dirty_may_take(size_t bytes, size_t chunks)
{
    return ink_dirty_is_within(ink_dirty_used(chunks) + bytes);
}

bool ink_dirty_reserve_large(size_t bytes, size_t chunks)
{
    if (ink_likely(ink_dirty_is_within(ink_dirty_add_large_live(bytes) + chunks)))
        return true;
    (void)ink_dirty_add_large_live(0 - bytes);
    return false;
}

bool ink_dirty_is_above_soft_limit(size_t chunks)
{
    return ink_options.limit_soft != 0 && ink_dirty_used(chunks) > ink_options.limit_soft;
}

/* The lower of both limits; SIZE_MAX if there is none. */
static size_t ink_dirty_limit(void)
{
    size_t soft = ink_options.limit_soft, hard = ink_options.limit_hard;

    if (soft == 0)
        return hard != 0 ? hard : SIZE_MAX;
    return hard != 0 && hard < soft ? hard : soft;
}

static size_t ink_dirty_allowed_for(size_t used)
{
    size_t fixed = ink_options.dirty_max;
    size_t share = used / INK_DIRTY_SHARE;
    size_t regretted = ink_load_relaxed(&ink_dirty_regretted);
    size_t peak = ink_dirty_note_peak(used), limit = ink_dirty_limit(), allowed;

    if (fixed == 0 || used >= limit) /* the user wants nothing to stay */
        return 0;
    peak /= INK_DIRTY_REGRET_SHARE;
    allowed = (fixed > share ? fixed : share) + (regretted < peak ? regretted : peak);
    return allowed < limit - used ? allowed : limit - used;
}

size_t ink_dirty_allowed(size_t chunks)
{
    return ink_dirty_allowed_for(ink_dirty_used(chunks));
}

size_t ink_dirty_allowed_beside(size_t chunks)
{
    size_t used = ink_dirty_used(chunks);
    size_t allowed = ink_dirty_allowed_for(used), peak = ink_dirty_note_peak(used);
    size_t slack = peak / INK_DIRTY_SLACK, most = ink_options.dirty_max / 4;
    size_t beside = peak - used + (slack < most ? slack : most);

    return allowed < beside ? allowed : beside;
}

void ink_dirty_add_large(size_t bytes)
{
    size_t sum = ink_add_relaxed(&ink_dirty_large_bytes, bytes) + bytes;

    if (sum < ink_load_relaxed(&ink_dirty_large_low))
        ink_store_relaxed(&ink_dirty_large_low, sum);
}

size_t ink_dirty_take_large_low(void)
{
    size_t low = ink_load_relaxed(&ink_dirty_large_low), now = ink_dirty_large();

    ink_store_relaxed(&ink_dirty_large_low, now);
    return low < now ? low : now;
}

size_t ink_dirty_large(void)
{
    return ink_load_relaxed(&ink_dirty_large_bytes);
}

size_t ink_dirty_large_in_use(void)
{
    return ink_load_relaxed(&ink_dirty_large_live);
}

size_t ink_dirty_add_large_live(size_t bytes)
{
    return ink_add_relaxed(&ink_dirty_large_live, bytes) + bytes;
}

_Atomic unsigned ink_dirty_room_wanted;

/* Plain stores: of two wishes at once the smaller may win, and the next mapping repeats the
 * larger. */
void ink_dirty_want_room(enum ink_room room)
{
    unsigned wanted = ink_load_relaxed(&ink_dirty_room_wanted);

    if (ink_dirty_limit() != SIZE_MAX)
        room = INK_ROOM_FROM_ALL;
    if (room == INK_ROOM_FROM_LARGE && ink_dirty_large() == 0)
        return;
    if ((wanted | room) != wanted)
        ink_store_relaxed(&ink_dirty_room_wanted, wanted | room);
}

void ink_dirty_regret(size_t bytes, size_t chunks)
{
    size_t sum = ink_load_relaxed(&ink_dirty_regretted) + bytes;

    (void)ink_dirty_note_peak(ink_dirty_used(chunks));
    ink_store_relaxed(&ink_dirty_regretted,
                      sum < INK_DIRTY_REGRET_MAX ? sum : INK_DIRTY_REGRET_MAX);
}

void ink_dirty_forgive(void)
{
    uint32_t now = ink_os_now_ms(), before = ink_load_relaxed(&ink_dirty_forgiven_ms);
    uint32_t halvings = (now - before) / INK_DIRTY_HALF_LIFE_MS;

    if (halvings == 0)
        return;
    ink_store_relaxed(&ink_dirty_forgiven_ms, now);
    ink_store_relaxed(&ink_dirty_regretted,
                      halvings < 32 ? ink_load_relaxed(&ink_dirty_regretted) >> halvings : 0);
    ink_store_relaxed(&ink_dirty_peak,
                      halvings < 32 ? ink_load_relaxed(&ink_dirty_peak) >> halvings : 0);
}
