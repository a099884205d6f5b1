/* The thread that purges by time where a program makes no calls of its own (option purge_thread).
 * Never started unless the user asks.
 *
 * All signals are blocked in it, so none of the program's handlers runs there; those that the C
 * library uses among its threads (setuid) are not.  A child of a fork has none: there, as
 * everywhere without it, free memory decays with later calls (decay.h). */
#ifndef INK_PURGER_H
#define INK_PURGER_H

#include "cc.h"

/* Starts the thread.  False if the program was linked without threads, or the system refuses.  Once
 * in a process. */
bool ink_purger_start(void);

#endif
