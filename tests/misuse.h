/* What the die_* programs share: the line that tells the driver which pointer to expect, without
 * allocating. */
#ifndef INK_TESTS_MISUSE_H
#define INK_TESTS_MISUSE_H

#include "check.h"

#include <malloc.h>

static inline void *announce(void *p)
{
    check_start();
    dprintf(1, "ptr %p\n", p);
    return keep_ptr(p);
}

/* Reached only if the misuse went unnoticed. */
static inline int survived(void)
{
    dprintf(2, "nothing was noticed\n");
    return 1;
}

#endif
