/* Every size at every alignment from 1 B to 1 GiB: the address is aligned, the block is whole,
 * no two overlap, and a wide alignment costs address space at most. */
#include "check.h"

#include <malloc.h>

enum { MAX_SHIFT = 30, SIZES_MAX = 128, LIVE = 500, SMALL_RSS = 64 << 20, MIX_BUDGET = 64 << 20 };

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
    aligned_blocks_of_every_size_are_aligned_and_do_not_overlap();
    aligned_blocks_of_equal_size_are_unique();
    aligned_and_plain_blocks_churn_without_overlap();
    aligned_small_blocks_at_1_gib_stay_small_in_memory();
    aligned_blocks_that_are_freed_give_their_address_space_back();
    return check_end();
}
