/* Included before every source of glibc's tests: what they expect from glibc's own build, which is
 * not there when they are built outside it. */
#ifndef INK_TESTS_GLIBC_INTERNAL_H
#define INK_TESTS_GLIBC_INTERNAL_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#define __set_errno(value) (errno = (value))
#define attribute_hidden
#define TIMEOUTFACTOR \
    1 /* on the programs' time limits; the environment variable of this name goes before it */
#define libc_hidden_def(name)
#define libc_hidden_proto(name)

/* A reference to a symbol that new programs can no longer link: by the version of this machine's
 * first glibc, which the build script reads from the installed one. */
#define TEST_COMPAT(library, introduced, removed) 1
#define compat_symbol_reference(library, local, symbol, version) \
    __asm__(".symver " #local ", " #symbol "@" INK_GLIBC_FIRST_VERSION)

#endif
