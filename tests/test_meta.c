/* Memory for records: aligned, zero, nobody else's. */
#include "meta.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* Every alignment is kept, and fresh memory is zero although its neighbours are not. */
static void alloc_of_any_alignment_gives_aligned_zeros(void **state)
{
    (void)state;
    for (size_t alignment = 1; alignment <= 2 * INK_MIB; alignment *= 2)
        for (size_t bytes = 1; bytes < 3000; bytes = bytes * 3 + 1) {
            char *p = ink_meta_alloc(bytes, alignment);

            assert_non_null(p);
            assert_int_equal((uintptr_t)p % alignment, 0);
            assert_true(unit_is_zero(p, bytes));
            memset(p, 0xff, bytes);
        }
}

/* What does not fit into a region has a mapping of its own, and is counted. */
static void alloc_of_much_memory_gives_all_of_it(void **state)
{
    (void)state;
    for (size_t bytes = 512 * INK_KIB; bytes <= 8 * INK_MIB; bytes += 511 * INK_KIB + 1) {
        size_t before = ink_meta_mapped_bytes();
        char *p = ink_meta_alloc(bytes, 64);

        assert_non_null(p);
        assert_true(unit_is_zero(p, bytes));
        memset(p, 0xff, bytes);
        assert_true(ink_meta_mapped_bytes() >= before + (bytes > INK_MIB ? bytes : 0));
    }
}

/* Many small requests go on into the next region; what is counted is what is mapped. */
static void alloc_of_many_small_blocks_takes_new_regions(void **state)
{
    size_t before = ink_meta_mapped_bytes(), mapped;

    (void)state;
    for (int i = 0; i < 4096; i++) {
        char *p = ink_meta_alloc(1024, 8);

        assert_non_null(p);
        assert_true(unit_is_zero(p, 1024));
        memset(p, 0xff, 1024);
    }
    mapped = ink_meta_mapped_bytes() - before;
    assert_in_range(mapped, 3 * INK_MIB, 6 * INK_MIB);
}

/* What the system does not have is NULL, and small requests still work. */
static void alloc_of_too_much_gives_null(void **state)
{
    (void)state;
    assert_null(ink_meta_alloc((size_t)PTRDIFF_MAX - 65536, 64));
    assert_non_null(ink_meta_alloc(64, 64));
}

enum { BLOCKS = 3000, THREADS = 4 };

struct worker {
    unsigned char tag;
    unsigned char *block[BLOCKS];
    size_t bytes[BLOCKS];
};

static void allocate_and_fill(void *arg)
{
    struct worker *worker = arg;
    uint64_t seed = worker->tag;

    for (int i = 0; i < BLOCKS; i++) {
        size_t alignment = (size_t)1 << unit_random(&seed) % 8;

        worker->bytes[i] = 1 + unit_random(&seed) % 2000;
        worker->block[i] = ink_meta_alloc(worker->bytes[i], alignment);
        UNIT_CHECK(worker->block[i] != NULL && (uintptr_t)worker->block[i] % alignment == 0);
        UNIT_CHECK(unit_is_zero(worker->block[i], worker->bytes[i]));
        memset(worker->block[i], worker->tag, worker->bytes[i]);
    }
}

/* Blocks of many threads do not overlap: each still holds what its own thread wrote all over it. */
static void alloc_by_many_threads_gives_blocks_that_do_not_overlap(void **state)
{
    static struct worker workers[THREADS];

    (void)state;
    for (int t = 0; t < THREADS; t++)
        workers[t].tag = (unsigned char)(t + 1);
    unit_threads(THREADS, allocate_and_fill, workers, sizeof workers[0]);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < BLOCKS; i++) {
            unsigned char *p = workers[t].block[i];

            assert_int_equal(p[0], workers[t].tag);
            assert_memory_equal(p, p + 1, workers[t].bytes[i] - 1);
        }
}

UNIT_MAIN(cmocka_unit_test(alloc_of_any_alignment_gives_aligned_zeros),
          cmocka_unit_test(alloc_of_much_memory_gives_all_of_it),
          cmocka_unit_test(alloc_of_many_small_blocks_takes_new_regions),
          cmocka_unit_test(alloc_of_too_much_gives_null),
          cmocka_unit_test(alloc_by_many_threads_gives_blocks_that_do_not_overlap))
