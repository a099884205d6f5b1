/* Allocation at the edges of a program's life: in an IFUNC resolver, which runs before the TLS
 * images are copied, in the first constructor, in the last destructor, in exit handlers. What
 * each took stays whole and is freed elsewhere. */
#include "check.h"

#if defined(__x86_64__) || defined(__aarch64__)

enum { EACH = 200, LARGE = 3 << 20 };

static void *from_resolver[EACH], *from_constructor[EACH], *from_main[EACH];

/* No check here: a resolver runs before its own module is ready for much else. */
static void take(void **p, uint32_t seed)
{
    free(keep_ptr(NULL)); /* P6: before anything of ours has run */
    for (size_t i = 0; i < EACH; ++i) {
        size_t const n = i == 7 ? LARGE : i * i;

        free(malloc(n));
        p[i] = malloc(n);
        if (p[i] == NULL)
            abort();
        pattern_fill(p[i], n, seed);
    }
}

static void give(void **p, uint32_t seed)
{
    for (size_t i = 0; i < EACH; ++i) {
        check_pattern(p[i], i == 7 ? (size_t)LARGE : i * i, seed);
        free(p[i]);
        p[i] = NULL;
    }
}

static int chosen(void)
{
    return 42;
}

/* P8: before any constructor has run. */
__attribute__((no_stack_protector, used)) static int (*resolve(void))(void)
{
    take(from_resolver, 1);
    return chosen;
}

static int by_ifunc(void) __attribute__((ifunc("resolve")));

__attribute__((constructor(101))) static void first_constructor(void)
{
    take(from_constructor, 2);
    free(from_resolver[0]);
    from_resolver[0] = malloc(0);
}

/* P29: nothing is taken down when a program ends. */
static void at_exit(void)
{
    give(from_main, 3);
    take(from_main, 4);
}

__attribute__((destructor(101))) static void last_destructor(void)
{
    give(from_main, 4);
    take(from_main, 5);
    give(from_main, 5);
}

int main(void)
{
    check_start();
    check_eq(by_ifunc(), 42);
    give(from_resolver, 1);
    give(from_constructor, 2);
    take(from_main, 3);
    check_eq(atexit(at_exit), 0);
    return check_end();
}

#else

int main(void)
{
    puts("skipped: no IFUNC on this machine");
    return 77;
}

#endif
