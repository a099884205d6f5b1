/* inkalloc: what it adds to the functions of <stdlib.h> and <malloc.h>, which it replaces. */
#ifndef INKALLOC_H
#define INKALLOC_H

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the inkalloc that serves this process, as "1.2.3"; a constant string.  Any thread,
 * any signal handler, also in the child of a fork; no error.  A program that may run without
 * inkalloc looks the symbol up: dlsym(RTLD_DEFAULT, "inkalloc_version"). */
const char *inkalloc_version(void);

#ifdef __cplusplus
}
#endif

#endif
