/* The one way to die: a line on stderr that names fault, function and pointer, then abort().
 * Allocates nothing.
 *
 * Asserts come in three tiers.  INK_ASSERT stays in release builds and guards trust boundaries;
 * INK_DEBUG_ASSERT is for builds with --enable-debug; INK_PARANOID walks whole structures and is
 * for the stress tests of such builds. */
#ifndef INK_DIE_H
#define INK_DIE_H

#include "cc.h"

#define INK_FAULT_FOREIGN    "foreign pointer"
#define INK_FAULT_MISALIGNED "misaligned pointer"
#define INK_FAULT_INTERIOR   "interior pointer"
#define INK_FAULT_DOUBLE     "double free"

/* Prints "inkalloc: <fault> in <function>(<pointer>)" and aborts.  Any thread, any signal
 * handler. */
INK_NORETURN void ink_die_misuse(const char *fault, const char *function, const void *pointer);

/* Prints "inkalloc: internal error: <what>" and aborts: our own state is wrong. */
INK_NORETURN void ink_die_internal(const char *what);

#define INK_STRING_(x) #x
#define INK_STRING(x)  INK_STRING_(x)

#define INK_ASSERT(cond)                                                      \
    do {                                                                      \
        if (ink_unlikely(!(cond)))                                            \
            ink_die_internal(#cond " at " __FILE__ ":" INK_STRING(__LINE__)); \
    } while (0)

#ifndef INK_DEBUG_LEVEL
#define INK_DEBUG_LEVEL 0
#endif

#if INK_DEBUG_LEVEL >= 1
#define INK_DEBUG_ASSERT(cond) INK_ASSERT(cond)
#else
#define INK_DEBUG_ASSERT(cond) ((void)sizeof(cond))
#endif

#if INK_DEBUG_LEVEL >= 2
#define INK_PARANOID(cond) INK_ASSERT(cond)
#else
#define INK_PARANOID(cond) ((void)sizeof(cond))
#endif

#endif
