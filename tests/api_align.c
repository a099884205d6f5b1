/* Every size at every alignment from 1 B to 1 GiB: the address is aligned, the block is whole,
 * no two overlap, and a wide alignment costs address space at most. */
#include "check.h"

#include <malloc.h>

enum {
    MAX_SHIFT = 30,
    SIZES_MAX = 256,
    LIVE = 500,
    SMALL_RSS = 64 << 20,
    MIX_BUDGET = 64 << 20,
    MATRIX_TOP = 32768,
    WAYS = 5
};

struct block {
    void *p;
    size_t n;
    uint32_t seed;
};

static size_t sizes[SIZES_MAX];
static int size_count;

static void list_sizes(size_t top)
{
    size_count = 0;
    sizes[size_count++] = 0;
    for (size_t n = 1; n <= top; n *= 2) {
        if (n > 2)
            sizes[size_count++] = n - 1;
        sizes[size_count++] = n;
        if (n > 1)
            sizes[size_count++] = n + 1;
        if (n > 4)
            sizes[size_count++] = n + n / 2;
    }
}

static void *get_aligned(int way, size_t a, size_t n)
{
    void *p = NULL;

    if (way == 0)
        return aligned_alloc(keep_size(a), n);
    if (way == 1)
        return memalign(keep_size(a), n);
    if (way == 3)
        return malloc(n);
    if (way == 4)
        return calloc(n, 1);
    check_eq(posix_memalign(&p, keep_size(a < sizeof(void *) ? sizeof(void *) : a), n), 0);
    return p;
}

static void take(struct block *b, int way, size_t a, size_t n, uint32_t seed)
{
    b->p = get_aligned(way, a, n);
    b->n = n;
    b->seed = seed;
    if (b->p == NULL || (uintptr_t)b->p % a != 0 || (uintptr_t)b->p % 16 != 0)
        check_fail("way %d, alignment %zu, size %zu: %p", way, a, n, b->p);
    check_le(n, malloc_usable_size(b->p));
    pattern_fill(b->p, n, seed);
}

static void drop(struct block *b)
{
    check_pattern(b->p, b->n, b->seed);
    free(b->p);
    b->p = NULL;
}

static void drop_all_in_random_order(struct block *b, int count, uint32_t *rng)
{
    for (int left = count; left > 0; --left) {
        uint32_t const i = rng_next(rng) % (uint32_t)left;

        drop(&b[i]);
        b[i] = b[left - 1];
    }
}

static void add_size(size_t n)
{
    check(size_count < SIZES_MAX);
    sizes[size_count++] = n;
}

/* Both sides of every border at which a block becomes larger, as the allocator itself shows them,
 * then both sides of units, of the largest range and of what follows. */
static void list_class_borders(void)
{
    static size_t const larger[] = {65536, 131072, 524288, 1048576, 2097152, 4194304};
    size_t usable = 0;

    size_count = 0;
    add_size(0);
    for (size_t n = 1; n <= MATRIX_TOP; n = usable + 1) {
        void *const p = malloc(n);

        check_at(p != NULL, n);
        usable = malloc_usable_size(p);
        free(p);
        if (!on_inkalloc())
            usable = n + n / 4 + 15; /* classes of another malloc may be too many */
        add_size(n);
        add_size(usable - 1);
        add_size(usable);
    }
    for (size_t i = 0; i < sizeof larger / sizeof larger[0]; ++i) {
        add_size(larger[i] - 1);
        add_size(larger[i]);
        add_size(larger[i] + 1);
    }
}

static int by_address(const void *left, const void *right)
{
    uintptr_t const a = (uintptr_t)((const struct block *)left)->p,
                    b = (uintptr_t)((const struct block *)right)->p;

    return (a > b) - (a < b);
}

/* All that may be used of a block ends before the next begins. */
static void check_apart(struct block *b, int count)
{
    qsort(b, (size_t)count, sizeof *b, by_address);
    for (int i = 1; i < count; ++i)
        if ((uintptr_t)b[i - 1].p + malloc_usable_size(b[i - 1].p) > (uintptr_t)b[i].p)
            check_fail("%p of %zu bytes reaches into %p", b[i - 1].p, b[i - 1].n, b[i].p);
}

/* A8 (misaligned where size and alignment are equal), A9 (alignments beyond a chunk, and freeing
 * what has them), A10 (16 for the smallest), A7: every size class, at both its ends, at every
 * alignment, all live at once; malloc and calloc among them. */
static void every_class_at_every_alignment_is_aligned_and_apart(void)
{
    static struct block live[WAYS * SIZES_MAX];
    uint32_t rng = 5;

    list_class_borders();
    for (int shift = 0; shift <= MAX_SHIFT; ++shift) {
        int const step = shift > 20 ? 7 : 1; /* each is a mapping, and its pages are faults */
        int count = 0;

        for (int way = 0; way < WAYS; ++way)
            for (int i = shift % step; i < size_count; i += step)
                take(&live[count++], way, way < 3 ? (size_t)1 << shift : 16, sizes[i],
                     rng_next(&rng));
        check_apart(live, count);
        drop_all_in_random_order(live, count, &rng);
    }
}

/* A6: posix_memalign(2 MiB, 2 MiB), which users choose for huge pages; A9: and ever larger, size
 * and alignment alike. */
static void aligned_blocks_as_huge_as_their_alignment_are_given(void)
{
    for (int shift = 21; shift <= MAX_SHIFT; ++shift)
        for (int way = 0; way < 3; ++way) {
            struct block b;

            take(&b, way, (size_t)1 << shift, (size_t)1 << shift, (uint32_t)shift);
            drop(&b);
        }
}

static void aligned_blocks_of_every_size_are_aligned_and_do_not_overlap(void)
{
    static struct block live[SIZES_MAX];
    uint32_t rng = 1;

    for (int way = 0; way < 3; ++way)
        for (int shift = 0; shift <= MAX_SHIFT; ++shift) {
            list_sizes(way == shift % 3 ? (size_t)4 << 20 : (size_t)128 << 10);
            for (int i = 0; i < size_count; ++i)
                take(&live[i], way, (size_t)1 << shift, sizes[i], rng_next(&rng));
            drop_all_in_random_order(live, size_count, &rng);
        }
}

static void aligned_blocks_of_equal_size_are_unique(void)
{
    static struct block live[LIVE];
    uint32_t rng = 2;

    for (int shift = 0; shift <= 21; ++shift)
        for (size_t n = 0; n <= 65536; n = n * 4 + (n == 0)) {
            int const count = n <= 4096 && shift <= 12 ? LIVE : 40;

            for (int i = 0; i < count; ++i)
                take(&live[i], i % 3, (size_t)1 << shift, n, rng_next(&rng));
            drop_all_in_random_order(live, count, &rng);
        }
}

static void aligned_and_plain_blocks_churn_without_overlap(void)
{
    static struct block live[LIVE];
    double const end = box_end(2);
    uint32_t rng = 3;

    while (now_seconds() < end)
        for (int k = 0; k < 1000; ++k) {
            struct block *b = &live[rng_next(&rng) % LIVE];
            int const shift = (int)(rng_next(&rng) % 24);

            if (b->p != NULL)
                drop(b);
            if (k % 4 == 0)
                take(b, 0, 16, random_size(&rng) % (MIX_BUDGET / LIVE), rng_next(&rng));
            else
                take(b, k % 3, (size_t)1 << (shift % (1 + (int)(rng_next(&rng) % 24))),
                     random_size(&rng) % 65536, rng_next(&rng));
        }
    for (int i = 0; i < LIVE; ++i)
        if (live[i].p != NULL)
            drop(&live[i]);
}

static void aligned_small_blocks_at_1_gib_stay_small_in_memory(void)
{
    struct block live[8];
    size_t const before = resident_bytes();

    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 8; ++i)
            take(&live[i], i % 3, (size_t)1 << 30, (size_t)i * 1000, (uint32_t)i);
        check_le(resident_bytes(), before + SMALL_RSS);
        for (int i = 0; i < 8; ++i)
            drop(&live[i]);
    }
    check_le(resident_bytes(), before + SMALL_RSS);
}

static void aligned_blocks_that_are_freed_give_their_address_space_back(void)
{
    size_t const before = mapped_bytes();

    for (int i = 0; i < 300; ++i) {
        void *const p = get_aligned(i % 3, (size_t)1 << 30, 100);

        check(p != NULL);
        free(p);
    }
    check_le(mapped_bytes(), before + ((size_t)4 << 30));
}

int main(void)
{
    check_start();
    every_class_at_every_alignment_is_aligned_and_apart();
    aligned_blocks_as_huge_as_their_alignment_are_given();
    aligned_blocks_of_every_size_are_aligned_and_do_not_overlap();
    aligned_blocks_of_equal_size_are_unique();
    aligned_and_plain_blocks_churn_without_overlap();
    aligned_small_blocks_at_1_gib_stay_small_in_memory();
    aligned_blocks_that_are_freed_give_their_address_space_back();
    return check_end();
}
