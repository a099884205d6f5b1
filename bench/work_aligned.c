/* Aligned blocks: work_aligned [STEPS [LIVE]].
 *
 * A churn like that of Larson & Krishnan (1998), one thread, with posix_memalign and
 * aligned_alloc by turns: vector code, lines of a cache, buffers for direct I/O.  The alignment
 * is 16, 32, ... or 4096, each as frequent, the size even from 1 to 4096 bytes; aligned_alloc's
 * is rounded up to the alignment, as C11 wants it.  LIVE places, STEPS replacements of a random
 * one.
 *
 * Real programs ask for large alignments much more rarely; this weighs them on purpose. */
#include "work.h"

enum {
    STEPS_DEFAULT = 700000,
    LIVE_DEFAULT = 1000,
    ALIGNMENT_MIN = 16,
    ALIGNMENTS = 9,
    MAX_BYTES = 4096
};

static void *by_posix_memalign(size_t alignment, size_t bytes)
{
    void *p;

    return posix_memalign(&p, alignment, bytes) == 0 ? p : NULL;
}

static char *aligned_block(struct bench_rng *rng, size_t i)
{
    bool posix = i % 2 == 0;
    size_t alignment = (size_t)ALIGNMENT_MIN << bench_rng_below(rng, ALIGNMENTS);
    size_t bytes = 1 + bench_rng_below(rng, MAX_BYTES);
    char *p = (char *)bench_check(
        posix ? by_posix_memalign(alignment, bytes)
              : aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1)));

    if (((uintptr_t)p & (alignment - 1)) != 0) {
        fputs("work_aligned: a block is not aligned\n", stderr);
        exit(1);
    }
    *p = 1;
    return p;
}

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_aligned [STEPS [LIVE]]");
    size_t steps = work_number(&a, STEPS_DEFAULT, 1000000000);
    size_t live = work_number(&a, LIVE_DEFAULT, 10000000);

    work_end(&a);
    work_churn(live, steps, aligned_block);
    return 0;
}
