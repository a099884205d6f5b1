/* What a caller of malloc and its relatives may rely on: zero sizes, sizes that cannot be,
 * errno, the rules of realloc, zeroed memory, usable sizes, alignment of every block. */
#include "check.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>

enum { ERRNO_MARK = 4242 };

/* C23 and old names: no libc header has them all. */
static void (*free_sized_ptr)(void *, size_t);
static void (*free_aligned_sized_ptr)(void *, size_t, size_t);
static void (*cfree_ptr)(void *);

static void *by_malloc(size_t n)
{
    return malloc(n);
}
static void *by_calloc_one(size_t n)
{
    return calloc(1, n);
}
static void *by_calloc_many(size_t n)
{
    return calloc(n, 1);
}
static void *by_realloc(size_t n)
{
    return realloc(keep_ptr(NULL), n);
}
static void *by_aligned_alloc(size_t n)
{
    return aligned_alloc(keep_size(32), n);
}
static void *by_memalign(size_t n)
{
    return memalign(64, n);
}
static void *by_memalign_wide(size_t n)
{
    return memalign(65536, n);
}
static void *by_posix_memalign(size_t n)
{
    void *p = NULL;
    int const code = posix_memalign(&p, 128, n);

    if (code != 0) {
        check_eq(code, ENOMEM); /* and errno as well, as from glibc's: the caller looks */
        check(p == NULL);
    }
    return p;
}
static void *by_valloc(size_t n)
{
    return valloc(n);
}
static void *by_pvalloc(size_t n)
{
    return pvalloc(n);
}
static void *by_reallocarray(size_t n)
{
    return reallocarray(NULL, n, 1);
}

static struct {
    const char *name;
    void *(*get)(size_t);
} const ways[] = {
    {"malloc", by_malloc},
    {"calloc(1, n)", by_calloc_one},
    {"calloc(n, 1)", by_calloc_many},
    {"realloc(NULL, n)", by_realloc},
    {"aligned_alloc", by_aligned_alloc},
    {"memalign(64)", by_memalign},
    {"memalign(65536)", by_memalign_wide},
    {"posix_memalign", by_posix_memalign},
    {"valloc", by_valloc},
    {"pvalloc", by_pvalloc},
    {"reallocarray", by_reallocarray},
};

enum { WAYS = sizeof ways / sizeof ways[0] };

/* One size of every region: small, run ranges, mappings of their own. */
static size_t const regions[] = {
    1,      8,      15,      16,      17,      24,      64,      100,     128,
    129,    1000,   1024,    4000,    4096,    8192,    10000,   16384,   20000,
    32767,  32768,  32769,   50000,   65536,   65537,   100000,  131072,  200000,
    524288, 700000, 1048575, 1048576, 1048577, 1500000, 2097152, 2097153, 4194304};

enum { REGIONS = sizeof regions / sizeof regions[0] };

/* A14: size 0, from pvalloc and posix_memalign too. */
static void malloc_of_zero_from_every_function_is_unique_and_freeable(void)
{
    enum { EACH = 100 };
    void *p[WAYS][EACH];

    for (int w = 0; w < WAYS; ++w)
        for (int i = 0; i < EACH; ++i) {
            p[w][i] = ways[w].get(keep_size(0));
            if (p[w][i] == NULL)
                check_fail("%s of 0 bytes is NULL", ways[w].name);
        }
    for (int w = 0; w < WAYS * EACH; ++w)
        for (int v = 0; v < w; ++v)
            check(p[w / EACH][w % EACH] != p[v / EACH][v % EACH]);
    for (int w = 0; w < WAYS; ++w)
        for (int i = 0; i < EACH; ++i)
            free(p[w][i]);
}

/* A15: beyond PTRDIFF_MAX, and where rounding up would overflow; A16: errno is set by every
 * function. */
static void malloc_of_too_much_from_every_function_fails_with_enomem(void)
{
    size_t const sizes[] = {
        PTRDIFF_MAX,
        (size_t)PTRDIFF_MAX + 1,
        (size_t)PTRDIFF_MAX - 14,
        (size_t)PTRDIFF_MAX - 4000,
        SIZE_MAX,
        SIZE_MAX - 1,
        SIZE_MAX - 15,
        SIZE_MAX - 16,
        SIZE_MAX - 4094,
        SIZE_MAX - 4096,
        SIZE_MAX - 65535,
        SIZE_MAX - 2097151,
        SIZE_MAX / 2,
        SIZE_MAX - 65536,
        SIZE_MAX - 1048576,
        SIZE_MAX / 4 * 3,
    };

    for (int w = 0; w < WAYS; ++w)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            errno = 0;
            void *const p = ways[w].get(keep_size(sizes[i]));
            if (p != NULL || errno != ENOMEM)
                check_fail("%s(%zu) is %p with errno %d", ways[w].name, sizes[i], p, errno);
            check(p == NULL);
        }
}

/* A16: the product of calloc and reallocarray. */
static void calloc_of_a_product_that_overflows_fails_with_enomem(void)
{
    size_t const pairs[][2] = {
        {SIZE_MAX, 2},
        {2, SIZE_MAX},
        {SIZE_MAX / 2 + 1, 2},
        {SIZE_MAX / 16 + 1, 16},
        {SIZE_MAX, SIZE_MAX},
        {(size_t)1 << (sizeof(size_t) * 4), (size_t)1 << (sizeof(size_t) * 4)},
        {((size_t)1 << (sizeof(size_t) * 4)) + 1, (size_t)1 << (sizeof(size_t) * 4)},
        {SIZE_MAX / 4, 3},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        errno = 0;
        check_at(calloc(keep_size(pairs[i][0]), keep_size(pairs[i][1])) == NULL, pairs[i][0]);
        check_eq(errno, ENOMEM);
        errno = 0;
        check_at(reallocarray(NULL, keep_size(pairs[i][0]), keep_size(pairs[i][1])) == NULL,
                 pairs[i][0]);
        check_eq(errno, ENOMEM);
    }
}

/* A1: what posix_memalign was to store is untouched when there is no memory. */
static void memalign_of_too_much_alignment_fails(void)
{
    size_t const top = SIZE_MAX / 2 + 1;
    void *p = &p;

    errno = 0;
    check(memalign(keep_size(top), 1) == NULL);
    check_eq(errno, ENOMEM);
    errno = 0;
    check(aligned_alloc(keep_size(top), 100) == NULL);
    check_eq(errno, ENOMEM);
    check_eq(posix_memalign(&p, keep_size(top), 1), ENOMEM);
    check(p == &p);
    check_eq(posix_memalign(&p, keep_size((size_t)1 << 20), keep_size((size_t)PTRDIFF_MAX - 100)),
             ENOMEM);
    check(p == &p);
    errno = 0;
    check(memalign(keep_size(SIZE_MAX), 1) == NULL); /* has no power of two above it */
    check(errno == EINVAL || errno == ENOMEM);
}

/* A1, A2: EINVAL unless a power of two and a multiple of a pointer; through the return value
 * alone. */
static void posix_memalign_of_a_bad_alignment_says_einval_and_stores_nothing(void)
{
    size_t const bad[] = {0,  1,  2,  3,   4,    5,    7,    12,       24,
                          40, 63, 96, 100, 4095, 4097, 6144, SIZE_MAX, SIZE_MAX / 2};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        void *p = &p;

        if (bad[i] % sizeof(void *) == 0 && (bad[i] & (bad[i] - 1)) == 0 && bad[i] != 0)
            continue; /* 4 is good where pointers have four bytes */
        errno = ERRNO_MARK;
        check_eq(posix_memalign(&p, keep_size(bad[i]), 64), EINVAL);
        check_at(p == &p, bad[i]);
        check_eq(posix_memalign(&p, keep_size(bad[i]), keep_size(SIZE_MAX)), EINVAL);
        check_at(p == &p, bad[i]);
        check_eq(errno, ERRNO_MARK);
    }
}

static void posix_memalign_of_a_good_alignment_keeps_errno(void)
{
    for (size_t a = sizeof(void *); a <= 4194304; a *= 2) {
        void *p = NULL;

        errno = ERRNO_MARK;
        check_eq(posix_memalign(&p, a, 100), 0);
        check_eq(errno, ERRNO_MARK);
        check_at((uintptr_t)p % a == 0, a);
        free(p);
    }
}

/* A3: each function has its own rule; aligned_alloc takes powers of two only, as newer glibc. */
static void aligned_alloc_of_a_bad_alignment_fails_with_einval(void)
{
    size_t const bad[] = {0, 3, 5, 6, 7, 9, 12, 24, 48, 4095, 65537, SIZE_MAX};

    if (!on_inkalloc())
        return; /* glibc before 2.38 rounds up */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        errno = 0;
        check_at(aligned_alloc(keep_size(bad[i]), 64) == NULL, bad[i]);
        check_eq(errno, EINVAL);
        errno = 0;
        check_at(aligned_alloc(keep_size(bad[i]), keep_size(2 * bad[i])) == NULL,
                 bad[i]); /* a multiple of it */
        check_eq(errno, EINVAL);
    }
}

/* A3: alignments smaller than a pointer; A4: sizes that are no multiple of the alignment. */
static void aligned_alloc_of_any_size_and_power_of_two_succeeds(void)
{
    for (size_t a = 1; a <= 65536; a *= 2)
        for (size_t n = 0; n < 200; n += 7) {
            void *const p = aligned_alloc(keep_size(a), keep_size(n));

            check_at(p != NULL && (uintptr_t)p % a == 0, a);
            free(p);
        }
}

/* A5: alignment 0 and any other. */
static void memalign_of_any_alignment_rounds_it_up(void)
{
    for (size_t a = 0; a < 5000; a += a < 70 ? 1 : 61) {
        void *const p = memalign(keep_size(a), 24);
        size_t want = 1;

        while (want < a)
            want *= 2;
        check_at(p != NULL, a);
        check_at((uintptr_t)p % want == 0, a);
        check_at((uintptr_t)p % 16 == 0, a);
        free(p);
    }
}

static void valloc_and_pvalloc_give_whole_pages(void)
{
    size_t const page = (size_t)sysconf(_SC_PAGESIZE);

    for (size_t n = 0; n < 3 * page; n += 123) {
        void *const v = valloc(n), *const pv = pvalloc(n);

        check_at(v != NULL && (uintptr_t)v % page == 0, n);
        check_at(pv != NULL && (uintptr_t)pv % page == 0, n);
        check_le((n + page - 1) / page * page, malloc_usable_size(pv));
        free(v);
        free(pv);
    }
}

/* A17: free, from every region. */
static void free_keeps_errno(void)
{
    enum { EACH = 200 };
    void *p[EACH];

    errno = ERRNO_MARK;
    free(NULL);
    check_eq(errno, ERRNO_MARK);
    for (int r = 0; r < REGIONS; ++r) {
        size_t const n = regions[r];
        int const k = n <= 65536 ? EACH : 4;

        for (int i = 0; i < k; ++i)
            check_at((p[i] = malloc(n)) != NULL, n);
        for (int i = 0; i < k; ++i) {
            errno = ERRNO_MARK;
            free(p[i]);
            check_eq(errno, ERRNO_MARK);
        }
    }
}

/* A17: free_sized, free_aligned_sized and cfree. */
static void free_sized_frees_and_keeps_errno(void)
{
    if (free_sized_ptr == NULL || free_aligned_sized_ptr == NULL || cfree_ptr == NULL) {
        check(!on_inkalloc());
        return;
    }
    errno = ERRNO_MARK;
    free_sized_ptr(NULL, 10);
    free_aligned_sized_ptr(NULL, 64, 10);
    cfree_ptr(NULL);
    for (int r = 0; r < REGIONS; ++r)
        for (int i = 0; i < 20; ++i) {
            void *a = malloc(regions[r]), *b = aligned_alloc(64, regions[r]),
                 *c = malloc(regions[r]);

            check_at(a != NULL && b != NULL && c != NULL, regions[r]);
            free_sized_ptr(a, regions[r]);
            free_aligned_sized_ptr(b, 64, regions[r]);
            cfree_ptr(c);
            check_eq(errno, ERRNO_MARK);
        }
}

/* A26: an over-aligned small block lies in a larger class than its size says; A27: size 0 among
 * them. */
static void free_sized_of_an_aligned_block_finds_its_real_class(void)
{
    if (free_aligned_sized_ptr == NULL)
        return;
    for (size_t a = 1; a <= 4194304; a *= 2)
        for (size_t n = 0; n <= 8192; n = n * 3 + 1) {
            void *const p = aligned_alloc(a, n), *const q = aligned_alloc(a, n);

            check_at(p != NULL && q != NULL, a);
            pattern_fill(q, n, 1);
            free_aligned_sized_ptr(p, a, n);
            check_pattern(q, n, 1);
            free_aligned_sized_ptr(q, a, n);
        }
}

/* A25: programs pass sizes and alignments that are wrong, and nothing comes of it: the neighbours
 * keep what is theirs, and what is allocated next fits where it is put. */
static void free_sized_with_a_wrong_size_does_no_harm(void)
{
    enum { LIVE = 24 };
    size_t const wrong[] = {0,     1,     16,      17,      100,         4096,
                            32768, 65536, 1048577, 1 << 30, PTRDIFF_MAX, SIZE_MAX};
    char *p[2 * LIVE];

    if (free_sized_ptr == NULL || free_aligned_sized_ptr == NULL)
        return;
    for (int r = 0; r < REGIONS; ++r)
        for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; ++w) {
            size_t const n = regions[r];
            int const live = n <= 32768 ? LIVE : 2;

            for (int i = 0; i < 2 * live; ++i) {
                check_at((p[i] = malloc(n)) != NULL, n);
                pattern_fill(p[i], n, (uint32_t)i);
            }
            for (int i = 0; i < live; ++i)
                if (i % 2 == 0)
                    free_sized_ptr(p[i], wrong[w]);
                else
                    free_aligned_sized_ptr(p[i], (size_t)1 << w, wrong[w]);
            for (int i = 0; i < live; ++i) {
                size_t const next = wrong[w] <= 65536 ? wrong[w] : n;

                check_at((p[i] = malloc(next)) != NULL, next);
                memset(p[i], 0xa5, malloc_usable_size(p[i]));
            }
            for (int i = live; i < 2 * live; ++i)
                check_pattern(p[i], n, (uint32_t)i);
            for (int i = 0; i < 2 * live; ++i)
                free(p[i]);
        }
}

/* A17: success of every allocating function. */
static void malloc_that_succeeds_keeps_errno(void)
{
    for (int r = 0; r < REGIONS; ++r)
        for (int w = 0; w < WAYS; ++w)
            for (int i = 0; i < 5; ++i) {
                errno = ERRNO_MARK;
                void *const p = ways[w].get(regions[r]);
                check_eq(errno, ERRNO_MARK);
                check_at(p != NULL, regions[r]);
                free(p);
            }
}

/* A17: success of realloc. */
static void realloc_that_succeeds_keeps_errno(void)
{
    for (int from = 0; from < REGIONS; ++from)
        for (int to = 0; to < REGIONS; to += 3) {
            void *const p = malloc(regions[from]);

            errno = ERRNO_MARK;
            void *const q = realloc(p, regions[to]);
            check_eq(errno, ERRNO_MARK);
            check_at(q != NULL, regions[to]);
            check(realloc(q, keep_size(0)) == NULL);
            check_eq(errno, ERRNO_MARK);
        }
}

/* A12: it succeeds. */
static void realloc_of_null_and_zero_is_malloc_of_zero(void)
{
    void *const p = realloc(keep_ptr(NULL), keep_size(0));
    void *const q = realloc(keep_ptr(NULL), keep_size(0));

    check(p != NULL && q != NULL && p != q);
    free(p);
    free(q);
}

/* A13: as glibc, it frees and returns NULL. */
static void realloc_to_zero_frees_and_returns_null(void)
{
    size_t const before = resident_bytes();

    for (int r = 0; r < REGIONS; ++r)
        for (size_t total = 0; total < 64 * 1048576UL && total < regions[r] * 4096;
             total += regions[r]) {
            char *const p = malloc(regions[r]);

            check_at(p != NULL, regions[r]);
            p[0] = p[regions[r] - 1] = 1;
            check_at(realloc(p, keep_size(0)) == NULL, regions[r]);
        }
    check_le(resident_bytes(), before + 32 * 1048576UL);
}

static void realloc_that_fails_keeps_the_block(void)
{
    size_t const too_much[] = {PTRDIFF_MAX, SIZE_MAX, SIZE_MAX - 16, SIZE_MAX / 2 + 1,
                               SIZE_MAX / 4 * 3};

    for (int r = 0; r < REGIONS; ++r)
        for (size_t i = 0; i < sizeof too_much / sizeof too_much[0]; ++i) {
            size_t const n = regions[r];
            void *const p = malloc(n);

            check_at(p != NULL, n);
            pattern_fill(p, n, 5);
            size_t const usable = malloc_usable_size(p);
            errno = 0;
            check_at(realloc(p, keep_size(too_much[i])) == NULL, n);
            check_eq(errno, ENOMEM);
            errno = 0;
            check_at(reallocarray(p, keep_size(too_much[i]), 2) == NULL, n);
            check_eq(errno, ENOMEM);
            check_eq(malloc_usable_size(keep_ptr(p)), usable);
            check_pattern(p, n, 5);
            free(p);
        }
}

static void check_realloc_keeps(void **p, size_t from, size_t to)
{
    size_t const both = from < to ? from : to;

    pattern_fill(*p, from, (uint32_t)from);
    *p = realloc(*p, to);
    check_at(*p != NULL && (uintptr_t)*p % 16 == 0, to);
    check_at(malloc_usable_size(*p) >= to, to);
    size_t const i = pattern_differs(*p, both, from, (uint32_t)from);
    if (i != both)
        check_fail("realloc from %zu to %zu: byte %zu is lost", from, to, i);
}

static void realloc_to_any_region_keeps_the_content(void)
{
    for (int from = 0; from < REGIONS; ++from)
        for (int to = 0; to < REGIONS; ++to) {
            void *p = malloc(regions[from]);

            check_at(p != NULL, regions[from]);
            check_realloc_keeps(&p, regions[from], regions[to]);
            pattern_fill(p, regions[to], 0);
            free(p);
        }
}

static void realloc_step_by_step_up_to_64_mib_and_down_keeps_the_content(void)
{
    size_t const top = (size_t)64 << 20;
    size_t n = 1;
    void *p = malloc(n);

    check(p != NULL);
    while (n < top) {
        size_t const to = n + n / 3 + 1 < top ? n + n / 3 + 1 : top;
        check_realloc_keeps(&p, n, to);
        n = to;
    }
    while (n > 1) {
        size_t const to = n - n / 4 - (n < 4);
        check_realloc_keeps(&p, n, to);
        n = to;
    }
    free(p);
}

static void realloc_of_aligned_blocks_keeps_the_content(void)
{
    for (size_t a = 32; a <= (size_t)8 << 20; a *= 4)
        for (int r = 0; r < REGIONS; r += 3) {
            void *p = memalign(a, regions[r]);

            check_at(p != NULL && (uintptr_t)p % a == 0, a);
            check_realloc_keeps(&p, regions[r], regions[r] * 2 + 40);
            check_realloc_keeps(&p, regions[r] * 2 + 40, regions[r] / 3 + 1);
            free(p);
        }
}

static void realloc_to_less_than_half_moves_to_a_smaller_block(void)
{
    for (int r = 0; r < REGIONS; ++r)
        for (size_t part = 3; part < 4000; part = part * 2 + 1) {
            size_t const to = regions[r] / part;
            if (to < 16)
                continue;
            void *const p = malloc(regions[r]);
            check_at(p != NULL, regions[r]);
            void *const q = realloc(p, to);
            check_at(q != NULL, to);
            check_le(malloc_usable_size(q), 2 * (to < 32 ? 32 : to));
            free(q);
        }
}

static void check_zero(const char *p, size_t n)
{
    static char const zeros[65536];

    for (size_t at = 0; at < n; at += sizeof zeros)
        check_at(memcmp(p + at, zeros, n - at < sizeof zeros ? n - at : sizeof zeros) == 0, n);
}

/* A18: blocks that others have written to. */
static void calloc_after_dirty_reuse_is_zero(void)
{
    enum { EACH = 40 };
    char *p[EACH];

    for (int r = 0; r < REGIONS; ++r) {
        size_t const n = regions[r];
        int const k = n <= 32768 ? EACH : n <= 1048576 ? 6 : 2;

        for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < k; ++i) {
                check_at((p[i] = malloc(n)) != NULL, n);
                memset(p[i], 0xa5, malloc_usable_size(p[i]));
            }
            for (int i = 0; i < k; ++i)
                free(p[i]);
            for (int i = 0; i < k; ++i) {
                check_at((p[i] = (round & 1) ? calloc(n, 1) : calloc(1, n)) != NULL, n);
                check_zero(p[i], n);
                memset(p[i], 0x5a, n);
            }
            for (int i = 0; i < k; ++i)
                free(p[i]);
        }
    }
}

/* A18: pages that were given back. */
static void calloc_after_malloc_trim_is_zero(void)
{
    enum { EACH = 300 };
    static char *p[EACH];

    for (size_t n = 48; n < 200000; n = n * 5 + 16) {
        for (int i = 0; i < EACH; ++i) {
            check_at((p[i] = malloc(n)) != NULL, n);
            memset(p[i], 0xee, n);
        }
        for (int i = 0; i < EACH; ++i)
            free(p[i]);
        malloc_trim(0);
        for (int i = 0; i < EACH; ++i) {
            check_at((p[i] = calloc(n, 1)) != NULL, n);
            check_zero(p[i], n);
        }
        for (int i = 0; i < EACH; ++i)
            free(p[i]);
    }
}

/* A19: what is fresh from the system is known to be zero. */
static void calloc_of_a_huge_block_touches_nothing(void)
{
    size_t const before = resident_bytes();

    for (int i = 0; i < 20; ++i) {
        char *const p = calloc(1, (size_t)1 << 30);

        check(p != NULL);
        check_eq(p[123456789], 0);
        check_le(resident_bytes(), before + 32 * 1048576UL);
        free(p);
    }
}

/* A20: over the life of a block. */
static void malloc_usable_size_is_constant_and_writable(void)
{
    for (int r = 0; r < REGIONS; ++r)
        for (int w = 0; w < WAYS; ++w) {
            char *const p = ways[w].get(regions[r]);
            char *const next = ways[w].get(regions[r]);
            size_t const usable = malloc_usable_size(p);

            check_at(p != NULL && next != NULL, regions[r]);
            check_le(regions[r], usable);
            pattern_fill(next, malloc_usable_size(next), 7);
            pattern_fill(p, usable, 8);
            check_eq(malloc_usable_size(keep_ptr(p)), usable);
            check_pattern(next, malloc_usable_size(next), 7);
            check_pattern(p, usable, 8);
            free(next);
            check_eq(malloc_usable_size(keep_ptr(p)), usable);
            malloc_trim(0);
            check_eq(malloc_usable_size(keep_ptr(p)), usable);
            check_pattern(p, usable, 8);
            free(p);
        }
}

/* A10: every size from 0 on, by every function. */
static void malloc_of_any_size_is_aligned_to_16(void)
{
    for (size_t n = 0; n < 70000; n += n < 2100 ? 1 : 333) {
        void *a = malloc(n), *b = calloc(1, n), *c = realloc(malloc(n / 2), n + 1);

        check_at(a != NULL && (uintptr_t)a % 16 == 0, n);
        check_at(b != NULL && (uintptr_t)b % 16 == 0, n);
        check_at(c != NULL && (uintptr_t)c % 16 == 0, n);
        free(a);
        free(b);
        free(c);
    }
    for (int r = 0; r < REGIONS; ++r)
        for (int w = 0; w < WAYS; ++w) {
            void *const p = ways[w].get(regions[r]);

            check_at((uintptr_t)p % 16 == 0, regions[r]);
            free(p);
        }
}

/* A23: blocks of libc's names for its own use and of the public ones are one heap, and each name
 * keeps its own rules. */
static void libc_aliases_and_public_names_are_one_heap(void)
{
    static const char *const names[] = {"malloc",   "free",   "calloc",  "realloc",
                                        "memalign", "valloc", "pvalloc", "mallopt"};
    void *(*const libc_malloc)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "__libc_malloc");
    void *(*const libc_realloc)(void *, size_t) =
        (void *(*)(void *, size_t))dlsym(RTLD_DEFAULT, "__libc_realloc");
    void *(*const libc_calloc)(size_t, size_t) =
        (void *(*)(size_t, size_t))dlsym(RTLD_DEFAULT, "__libc_calloc");
    void *(*const libc_memalign)(size_t, size_t) =
        (void *(*)(size_t, size_t))dlsym(RTLD_DEFAULT, "__libc_memalign");
    int (*const libc_posix_memalign)(void **, size_t, size_t) =
        (int (*)(void **, size_t, size_t))dlsym(RTLD_DEFAULT, "__posix_memalign");
    void (*const libc_free)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "__libc_free");

    if (libc_malloc == NULL) /* not glibc */
        return;
    for (size_t i = 0; on_inkalloc() && i < sizeof names / sizeof names[0]; ++i) {
        char alias[32];

        snprintf(alias, sizeof alias, "__libc_%s", names[i]);
        if (dlsym(RTLD_DEFAULT, alias) != dlsym(RTLD_DEFAULT, names[i]))
            check_fail("%s is not %s", alias, names[i]);
    }
    for (int r = 0; r < REGIONS; ++r) {
        void *p = libc_malloc(regions[r]);

        check_eq(malloc_usable_size(p) >= regions[r], 1);
        p = realloc(p, regions[r] + 100);
        p = libc_realloc(p, regions[r]);
        free(p);
        libc_free(malloc(regions[r]));
        free(libc_calloc(1, regions[r]));
        free(libc_memalign(64, regions[r]));
        if (libc_posix_memalign != NULL) {
            p = NULL;
            check_eq(libc_posix_memalign(&p, 64, regions[r]), 0);
            free(p);
            check_eq(libc_posix_memalign(&p, 3, regions[r]), EINVAL);
        }
    }
}

int main(void)
{
    check_start();
    free_sized_ptr = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
    free_aligned_sized_ptr =
        (void (*)(void *, size_t, size_t))dlsym(RTLD_DEFAULT, "free_aligned_sized");
    cfree_ptr = (void (*)(void *))dlsym(RTLD_DEFAULT, "cfree");

    malloc_of_zero_from_every_function_is_unique_and_freeable();
    malloc_of_too_much_from_every_function_fails_with_enomem();
    calloc_of_a_product_that_overflows_fails_with_enomem();
    memalign_of_too_much_alignment_fails();
    posix_memalign_of_a_bad_alignment_says_einval_and_stores_nothing();
    posix_memalign_of_a_good_alignment_keeps_errno();
    aligned_alloc_of_a_bad_alignment_fails_with_einval();
    aligned_alloc_of_any_size_and_power_of_two_succeeds();
    memalign_of_any_alignment_rounds_it_up();
    valloc_and_pvalloc_give_whole_pages();
    free_keeps_errno();
    free_sized_frees_and_keeps_errno();
    free_sized_of_an_aligned_block_finds_its_real_class();
    free_sized_with_a_wrong_size_does_no_harm();
    malloc_that_succeeds_keeps_errno();
    realloc_that_succeeds_keeps_errno();
    realloc_of_null_and_zero_is_malloc_of_zero();
    realloc_to_zero_frees_and_returns_null();
    realloc_that_fails_keeps_the_block();
    realloc_to_any_region_keeps_the_content();
    realloc_step_by_step_up_to_64_mib_and_down_keeps_the_content();
    realloc_of_aligned_blocks_keeps_the_content();
    realloc_to_less_than_half_moves_to_a_smaller_block();
    calloc_after_dirty_reuse_is_zero();
    calloc_after_malloc_trim_is_zero();
    calloc_of_a_huge_block_touches_nothing();
    malloc_usable_size_is_constant_and_writable();
    malloc_of_any_size_is_aligned_to_16();
    libc_aliases_and_public_names_are_one_heap();
    return check_end();
}
