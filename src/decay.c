/* Ticks of decay, and their steps. */
#include "decay.h"
#include "collapse.h"
#include "dirty.h"
#include "large_kept.h"
#include "os.h"
#include "purge.h"
#include "run_bytes.h"
#include "steal.h"
#include "units.h"

#define INK_DECAY_STEP_BYTES  ((size_t)8 * INK_MIB)
/* Less in idle caches is not worth a barrier; fewer threads hardly cache as much. */
#define INK_DECAY_CACHE_BYTES ((size_t)INK_MIB)
enum { INK_DECAY_LEAST_THREADS = 32 };
/* Less that is dirty is not worth a look at the clock. */
#define INK_DECAY_LEAST_BYTES ((size_t)INK_MIB)

/* Of a quantity: what has lasted. */
struct ink_decay_least {
    /* The least of the half period before the last one, less what was purged of it. */
    size_t before;
};

_Atomic size_t ink_decay_left;

static _Atomic uint32_t ink_decay_last_ms; /* of the last tick; 0: none yet */

/* Of the thread that makes the tick: ticks are some time apart, and each follows a compare-and-swap
 * of the time. */
static struct {
    struct ink_decay_least units, large, pages;
    size_t residue; /* what stayed of free pages after the last answer, or came back at once */
    bool answered;
} ink_decay;

static size_t ink_decay_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What has lasted for two half periods is to go. */
static size_t ink_decay_lasting(struct ink_decay_least *least, size_t now)
{
    size_t lasting = ink_decay_smaller(least->before, now);

    least->before = now - lasting;
    return lasting;
}

/* Pages between live items are purged once, and again if a quarter more than came back lies free: a
 * program that breathes would fault them in again. */
static void ink_decay_look_at_pages(void)
{
    size_t dirty = ink_run_dirty_bytes(), out = ink_run_out_bytes();
    size_t lasting = ink_decay_smaller(ink_decay.pages.before, dirty);

    ink_decay.pages.before = dirty;
    if (ink_collapse_is_under_way())
        return;
    if (ink_decay.answered || dirty < ink_decay.residue)
        ink_decay.residue = dirty;
    ink_decay.answered = lasting > out / 4 && lasting > ink_dirty_allowed(out) / 4 &&
                         lasting > ink_decay.residue + ink_decay.residue / 4;
    if (ink_decay.answered)
        ink_collapse_want();
}

void ink_decay_tick(const struct ink_turn *turn)
{
    size_t large = ink_decay_lasting(&ink_decay.large, ink_dirty_take_large_low());

    ink_store_relaxed(&ink_decay_left,
                      ink_decay_lasting(&ink_decay.units, ink_chunk_take_dirty_low()));
    ink_large_make_fewer(large);
    ink_steal_idle_caches(INK_DECAY_CACHE_BYTES, turn->me);
    ink_decay_look_at_pages();
}

/* Others purge beside it and may take the same bytes off: then less is left to do. */
static void ink_decay_purge(const struct ink_turn *turn)
{
    size_t left = ink_load_relaxed(&ink_decay_left);
    size_t step = ink_decay_smaller(left, INK_DECAY_STEP_BYTES), dirty = ink_chunk_dirty_bytes();

    ink_store_relaxed(&ink_decay_left, left - step);
    if (dirty == 0)
        ink_store_relaxed(&ink_decay_left, 0);
    ink_purge_down_to(dirty > step ? dirty - step : 0, turn->me);
}

static bool ink_decay_is_worthwhile(void)
{
    return ink_chunk_dirty_bytes() + ink_dirty_large() + ink_run_dirty_bytes() >=
               INK_DECAY_LEAST_BYTES ||
           ink_thread_live_count() >= INK_DECAY_LEAST_THREADS;
}

/* True for one thread when half a period has gone by. */
static bool ink_decay_is_tick(void)
{
    uint32_t now = ink_os_now_ms() | 1, last = ink_load_relaxed(&ink_decay_last_ms);

    if (last == 0)
        ink_store_relaxed(&ink_decay_last_ms, now);
    return last != 0 && now - last >= ink_options.decay * 500u &&
           ink_cas_acq_rel(&ink_decay_last_ms, &last, now);
}

void ink_decay_step(const struct ink_turn *turn)
{
    if (ink_options.decay == 0)
        return;
    if (ink_load_relaxed(&ink_decay_left) != 0)
        ink_decay_purge(turn);
    else if (ink_decay_is_worthwhile() && ink_decay_is_tick())
        ink_decay_tick(turn);
}
