/* Sleeps, and makes the ticks of decay. */
#include "purger.h"
#include "cache_fast.h"
#include "collapse.h"
#include "decay.h"
#include "options.h"
#include "os.h"
#include "turn.h"
#include "upkeep.h"

#include <pthread.h>

/* Weak: a static program that has no threads must not get them with the allocator. */
#pragma weak pthread_create
#pragma weak pthread_detach

enum { INK_PURGER_WAKES = 4 /* in the time of decay */ };

static void ink_purger_work(void)
{
    struct ink_turn turn = ink_turn_begin(ink_cache_take());

    ink_upkeep(&turn);
    while (ink_load_relaxed(&ink_decay_left) != 0 || ink_collapse_is_under_way()) {
        ink_os_yield(); /* others may be at it */
        ink_upkeep(&turn);
    }
    ink_turn_end(&turn);
}

static void *ink_purger_run(void *unused)
{
    (void)unused;
    for (;;) {
        ink_os_sleep_ms(ink_options.decay * 1000 / INK_PURGER_WAKES);
        ink_purger_work();
    }
    return NULL;
}

bool ink_purger_start(void)
{
    struct ink_os_signals before;
    pthread_t thread;
    bool started;

    if (pthread_create == NULL || pthread_detach == NULL)
        return false;
    ink_os_block_signals(&before);
    started = pthread_create(&thread, NULL, ink_purger_run, NULL) == 0;
    ink_os_restore_signals(&before);
    return started && pthread_detach(thread) == 0;
}
