/* Large blocks: work_large [STEPS [LIVE]].
 *
 * After the idea of malloc-large in mimalloc-bench (Daan Leijen, 2019), with smaller blocks:
 * programs that read files, images or messages whole.  LIVE places hold blocks of 64 KiB to 8
 * MiB, log-uniform; STEPS times the block of a random one is replaced and the first byte of each
 * of its pages is written.
 *
 * Most of the time is the kernel's, for page faults (25 us each on one virtual machine, well
 * below 1 us on bare metal): it depends on whether the allocator gives memory back at once, on
 * the kernel's transparent huge pages and on how a virtual machine maps its guest. */
#include "work.h"

enum { STEPS_DEFAULT = 60, LIVE_DEFAULT = 20, LIVE_MAX = 1000, BASE_BYTES = 65536, OCTAVES = 7 };

static char *touched_block(size_t bytes)
{
    char *p = (char *)bench_check(malloc(bytes));

    for (size_t i = 0; i < bytes; i += WORK_PAGE_BYTES)
        p[i] = 1;
    return p;
}

int main(int argc, char **argv)
{
    static char *blocks[LIVE_MAX];
    struct work_arguments a = work_begin(argc, argv, "work_large [STEPS [LIVE]]");
    size_t steps = work_number(&a, STEPS_DEFAULT, 1000000000);
    size_t live = work_number(&a, LIVE_DEFAULT, LIVE_MAX);
    struct bench_rng rng = bench_rng_seeded(1);

    work_end(&a);
    for (size_t i = 0; i < steps + live; i++) {
        char **place = &blocks[i < live ? i : bench_rng_below(&rng, live)];

        free(*place);
        *place = touched_block(work_log_size(&rng, BASE_BYTES, OCTAVES));
    }
    for (size_t i = 0; i < live; i++)
        free(blocks[i]);
    bench_result("operations", 2.0 * (double)(steps + live), "count");
    return 0;
}
