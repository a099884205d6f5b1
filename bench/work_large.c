/* Large blocks: work_large [STEPS [LIVE]].
 *
 * After the idea of malloc-large in mimalloc-bench (Daan Leijen, 2019), with smaller blocks:
 * programs that read files, images or messages whole.  LIVE places hold blocks of 64 KiB to 8
 * MiB, log-uniform; STEPS times the block of a random one is replaced and the first byte of each
 * of its pages is written.
 *
 * Most of the time is the kernel's, for page faults (16 to 30 us each on one virtual machine;
 * bench/touch says what they cost here): it depends on whether the allocator gives memory back at
 * once, on the kernel's transparent huge pages and on how a virtual machine maps its guest. */
#include "work.h"

enum { STEPS_DEFAULT = 60, LIVE_DEFAULT = 20, LIVE_MAX = 1000, BASE_BYTES = 65536, OCTAVES = 7 };

static char *touched_block(struct bench_rng *rng, size_t i)
{
    size_t bytes = work_log_size(rng, BASE_BYTES, OCTAVES);
    char *p = (char *)bench_check(malloc(bytes));

    (void)i;
    for (size_t at = 0; at < bytes; at += WORK_PAGE_BYTES)
        p[at] = 1;
    return p;
}

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_large [STEPS [LIVE]]");
    size_t steps = work_number(&a, STEPS_DEFAULT, 1000000000);
    size_t live = work_number(&a, LIVE_DEFAULT, LIVE_MAX);

    work_end(&a);
    work_churn(live, steps, touched_block);
    return 0;
}
