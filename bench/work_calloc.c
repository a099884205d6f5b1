/* Zeroed blocks: work_calloc [STEPS [LIVE]].
 *
 * A churn like that of Larson & Krishnan (1998), one thread, with calloc in place of malloc:
 * parsers and interpreters take their tables so.  LIVE places hold blocks of 16 bytes to 8 KiB,
 * log-uniform; one in 512 is of 64 KiB to 1 MiB.  STEPS times the block of a random place is
 * replaced, read whole, which proves it zero, and written whole, so that a block that comes again
 * is not.
 *
 * The reading and writing cost as much under every allocator and dilute the difference. */
#include "work.h"

enum {
    STEPS_DEFAULT = 120000,
    LIVE_DEFAULT = 1000,
    SMALL_BYTES = 16,
    SMALL_OCTAVES = 9,
    LARGE_BYTES = 65536,
    LARGE_OCTAVES = 4,
    LARGE_ONE_IN = 512
};

static bool is_zero(const char *p, size_t bytes)
{
    /* Each byte is the one before it. */
    return *p == 0 && memcmp(p, p + 1, bytes - 1) == 0;
}

static char *zeroed_block(struct bench_rng *rng, size_t i)
{
    size_t bytes = bench_rng_below(rng, LARGE_ONE_IN) == 0
                       ? work_log_size(rng, LARGE_BYTES, LARGE_OCTAVES)
                       : work_log_size(rng, SMALL_BYTES, SMALL_OCTAVES);
    char *p = (char *)bench_check(calloc(1, bytes));

    (void)i;
    if (!is_zero(p, bytes)) {
        fputs("work_calloc: a block is not zero\n", stderr);
        exit(1);
    }
    return memset(p, 1, bytes);
}

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_calloc [STEPS [LIVE]]");
    size_t steps = work_number(&a, STEPS_DEFAULT, 1000000000);
    size_t live = work_number(&a, LIVE_DEFAULT, 10000000);

    work_end(&a);
    work_churn(live, steps, zeroed_block);
    return 0;
}
