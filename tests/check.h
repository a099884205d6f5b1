/* What the programs that try the exported functions share: checks that stop with place and
 * values, patterns that show an overlap, barriers that keep the compiler from reasoning about
 * malloc, and a clock. It allocates nothing. */
#ifndef INK_TESTS_CHECK_H
#define INK_TESTS_CHECK_H

/* Included first, so that every program sees the same declarations. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CHECK_WATCHDOG_SECONDS = 240, /* a hang is a failure: SIGALRM ends the program */
    CHECK_PAGE = 4096,
    CHECK_NEAR = 128 << 10
};

/* Changed by __atomic builtins only: C and C++ share this file. */
static unsigned long check_count;
static unsigned long check_forks; /* children that this process has seen end well */

/* _exit and dprintf, so that a failure is reported from threads, signal handlers and fork
 * children alike. */
#define check_fail(...)                                          \
    do {                                                         \
        dprintf(2, "%s:%d: %s: ", __FILE__, __LINE__, __func__); \
        dprintf(2, __VA_ARGS__);                                 \
        dprintf(2, "\n");                                        \
        _exit(1);                                                \
    } while (0)

#define check(cond)                                            \
    do {                                                       \
        __atomic_fetch_add(&check_count, 1, __ATOMIC_RELAXED); \
        if (!(cond))                                           \
            check_fail("not true: %s", #cond);                 \
    } while (0)

/* For integers; both are printed. */
#define check_eq(left, right)                                                                      \
    do {                                                                                           \
        long long const check_l = (long long)(left);                                               \
        long long const check_r = (long long)(right);                                              \
        __atomic_fetch_add(&check_count, 1, __ATOMIC_RELAXED);                                     \
        if (check_l != check_r)                                                                    \
            check_fail("%s is %lld (0x%llx), not %s = %lld (0x%llx)", #left, check_l,              \
                       (unsigned long long)check_l, #right, check_r, (unsigned long long)check_r); \
    } while (0)

/* For sizes: left <= right. */
#define check_le(left, right)                                                             \
    do {                                                                                  \
        size_t const check_l = (size_t)(left);                                            \
        size_t const check_r = (size_t)(right);                                           \
        __atomic_fetch_add(&check_count, 1, __ATOMIC_RELAXED);                            \
        if (check_l > check_r)                                                            \
            check_fail("%s is %zu, more than %s = %zu", #left, check_l, #right, check_r); \
    } while (0)

/* As check_le, with the size that was asked for: the place alone does not tell which of many it
 * was. */
#define check_at(cond, size)                                                      \
    do {                                                                          \
        __atomic_fetch_add(&check_count, 1, __ATOMIC_RELAXED);                    \
        if (!(cond))                                                              \
            check_fail("not true at %s = %zu: %s", #size, (size_t)(size), #cond); \
    } while (0)

/* The compiler may neither follow a pointer nor know a size through these. */
static inline void *keep_ptr(void *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

static inline size_t keep_size(size_t n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

#ifdef INK_TEST_STATIC
#ifdef __cplusplus
extern "C"
#endif
    const char *
    inkalloc_version(void);

static inline int on_inkalloc(void)
{
    return inkalloc_version() != NULL;
}
#else
static inline int on_inkalloc(void)
{
    return dlsym(RTLD_DEFAULT, "inkalloc_version") != NULL;
}
#endif

/* First statement of every main: a test that runs on another malloc by mistake proves nothing. */
static inline void check_start(void)
{
    if (!on_inkalloc() && getenv("INK_ANY_MALLOC") == NULL) {
        dprintf(2, "not running on inkalloc (INK_ANY_MALLOC=1 tries another malloc)\n");
        _exit(1);
    }
    alarm(CHECK_WATCHDOG_SECONDS);
}

/* Last statement of every main. */
static inline int check_end(void)
{
    /* .ci/run adds up what such lines say. */
    printf("%lu checks\n", __atomic_load_n(&check_count, __ATOMIC_RELAXED));
    if (check_forks != 0)
        printf("%lu forks\n", __atomic_load_n(&check_forks, __ATOMIC_RELAXED));
    return check_count == 0 || fflush(stdout) != 0;
}

static inline double now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* When a loop of one of `parts` equal parts of the program's time must end. */
static inline double box_end(int parts)
{
    const char *text = getenv("INK_TEST_SECONDS");
    double seconds = text != NULL ? atof(text) : 2.0;

    return now_seconds() + (seconds > 0 ? seconds : 2.0) / parts;
}

static inline uint32_t rng_next(uint32_t *state)
{
    uint32_t x = *state;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

static inline unsigned char pattern_byte(size_t i, uint32_t seed)
{
    return (unsigned char)((i * 131 + (i >> 8) + seed * 2654435761U) >> 3);
}

/* The byte to mark after byte i of n: all of the first page, then sixteen bytes in every page,
 * above 128 KiB in every eighth (each page is a fault), and the last sixteen. */
static inline size_t pattern_next(size_t i, size_t n)
{
    size_t const next = i - 15 + (i < CHECK_NEAR ? CHECK_PAGE : 8 * CHECK_PAGE);

    if (i < CHECK_PAGE - 1 || i % 16 != 15 || n - i <= 16)
        return i + 1;
    return next < n - 16 ? next : n - 16;
}

/* Marks a block as its owner's. */
static inline void pattern_fill(void *block, size_t n, uint32_t seed)
{
    unsigned char *b = (unsigned char *)block;

    for (size_t i = 0; i < n; i = pattern_next(i, n))
        b[i] = pattern_byte(i, seed);
}

/* Index of the first byte among the first n that is not the owner's, or n. `filled` is what
 * pattern_fill was told. */
static inline size_t pattern_differs(const void *block, size_t n, size_t filled, uint32_t seed)
{
    const unsigned char *b = (const unsigned char *)block;

    for (size_t i = 0; i < n; i = pattern_next(i, filled))
        if (b[i] != pattern_byte(i, seed))
            return i;
    return n;
}

#define check_pattern(block, n, seed)                                                         \
    do {                                                                                      \
        size_t const check_n = (n);                                                           \
        size_t const check_i = pattern_differs((block), check_n, check_n, (seed));            \
        __atomic_fetch_add(&check_count, 1, __ATOMIC_RELAXED);                                \
        if (check_i != check_n)                                                               \
            check_fail("%p of %zu bytes: byte %zu is not its owner's", (const void *)(block), \
                       check_n, check_i);                                                     \
    } while (0)

/* Any size: half up to 256 B, most of the rest up to 32 KiB, some runs, now and then a mapping
 * of its own. */
static inline size_t random_size(uint32_t *state)
{
    uint32_t const r = rng_next(state);
    uint32_t const k = r & 255;

    if (k < 128)
        return (r >> 8) & 255;
    if (k < 246)
        return (r >> 8) & ((1U << (6 + (k & 7))) * 4 - 1);
    if (k < 255)
        return 32768 + ((r >> 8) & 0x3ffff);
    return 1048576 + ((r >> 8) & 0xfffff);
}

/* Column 0 of statm is the address space, column 1 what is resident, column 5 data and stack. */
static inline size_t statm_bytes(int column)
{
    unsigned long pages[6];
    char text[128];
    FILE *f = fopen("/proc/self/statm", "r");

    check(f != NULL);
    check(fgets(text, sizeof text, f) != NULL);
    check_eq(sscanf(text, "%lu %lu %lu %lu %lu %lu", &pages[0], &pages[1], &pages[2], &pages[3],
                    &pages[4], &pages[5]),
             6);
    fclose(f);
    return pages[column] * (size_t)sysconf(_SC_PAGESIZE);
}

static inline size_t mapped_bytes(void)
{
    return statm_bytes(0);
}

static inline size_t resident_bytes(void)
{
    return statm_bytes(1);
}

#endif
