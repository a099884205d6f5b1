/* Many small blocks freed in random order: work_cold [BLOCKS [TIMES]].
 *
 * What bench_coldfree times apart, as one workload: BLOCKS blocks of 48 bytes are taken and
 * written in order and freed in an order drawn before, TIMES times, so that nearly every free
 * meets a block that the caches have forgotten: the end of a program with a large graph of
 * objects.  No publication describes it; the price of such a free is a field report's
 * (bench_coldfree).
 *
 * The second time the lists are in the order of the frees, and taking is cold as well unless the
 * allocator sorts.  The drawing of the order is in the CPU time, a few per cent of it. */
#include "work.h"

enum { BLOCKS_DEFAULT = 500000, TIMES_DEFAULT = 2, BLOCK_BYTES = 48 };

static uint32_t *drawn_order(size_t count)
{
    uint32_t *order = work_map(count * sizeof *order);
    struct bench_rng rng = bench_rng_seeded(1);

    for (size_t i = 0; i < count; i++) {
        size_t j = bench_rng_below(&rng, i + 1);

        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
    return order;
}

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_cold [BLOCKS [TIMES]]");
    size_t count = work_number(&a, BLOCKS_DEFAULT, UINT32_MAX);
    size_t times = work_number(&a, TIMES_DEFAULT, 1000000);
    void **blocks = work_map(count * sizeof *blocks);
    const uint32_t *order;

    work_end(&a);
    order = drawn_order(count);
    for (size_t n = 0; n < times; n++) {
        for (size_t i = 0; i < count; i++)
            blocks[i] = memset(bench_check(malloc(BLOCK_BYTES)), 1, BLOCK_BYTES);
        for (size_t i = 0; i < count; i++)
            free(blocks[order[i]]);
    }
    bench_result("operations", 2.0 * (double)(count * times), "count");
    return 0;
}
