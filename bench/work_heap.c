/* A steady churn in a large heap: work_heap [MIB [STEPS]].
 *
 * A heap of MIB MiB is filled with blocks of 16 to 1008 bytes, 512 on the average, then STEPS
 * random ones are replaced; steady is the CPU time of one replacement.  It is the cache of a
 * server, such as memcached's (Fitzpatrick, "Distributed caching with memcached", 2004), and asks
 * how the price of malloc and free grows with the memory that is live.
 *
 * Much of a replacement is the misses of caches and of the TLB on the block itself, under every
 * allocator; transparent huge pages change that.  The heap is not freed at the end: a program
 * that ends does not either.  Less memory than one and a half times MIB: exit 77, which skips. */
#include "work.h"

enum {
    MIB_DEFAULT = 32,
    STEPS_DEFAULT = 300000,
    BLOCKS_PER_MIB = 2048,
    GRAIN_BYTES = 16,
    GRAINS = 63,
    WRITTEN_BYTES = 16,
    SKIP = 77
};

/* In KiB, as the kernel estimates it; the buffer is ours, as stdio would take it from malloc. */
static size_t available_kib(void)
{
    char line[128], buffer[4096];
    unsigned long kib = 0;
    FILE *f = fopen("/proc/meminfo", "r");

    if (f == NULL)
        work_fail("/proc/meminfo", errno);
    setvbuf(f, buffer, _IOFBF, sizeof buffer);
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "MemAvailable: %lu", &kib) == 1)
            break;
    fclose(f);
    return kib;
}

static void refuse_if_too_large(size_t mib)
{
    size_t available = available_kib();

    if (available / 3 >= mib * 1024 / 2)
        return;
    fprintf(stderr, "work_heap: %zu MiB of heap want half as much again, %zu MiB are available\n",
            mib, available / 1024);
    exit(SKIP);
}

static void *block(struct bench_rng *rng)
{
    size_t bytes = GRAIN_BYTES * (1 + bench_rng_below(rng, GRAINS));

    return memset(bench_check(malloc(bytes)), 1, WRITTEN_BYTES);
}

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_heap [MIB [STEPS]]");
    size_t mib = work_number(&a, MIB_DEFAULT, 1048576);
    size_t steps = work_number(&a, STEPS_DEFAULT, 1000000000);
    size_t count = mib * BLOCKS_PER_MIB;
    struct bench_rng rng = bench_rng_seeded(1);
    void **blocks;
    double start;

    work_end(&a);
    refuse_if_too_large(mib);
    blocks = work_map(count * sizeof *blocks);
    for (size_t i = 0; i < count; i++)
        blocks[i] = block(&rng);

    start = bench_cpu_ns();
    for (size_t i = 0; i < steps; i++) {
        void **place = &blocks[bench_rng_below(&rng, count)];

        free(*place);
        *place = block(&rng);
    }
    bench_result("steady", (bench_cpu_ns() - start) / (double)steps, "ns");
    bench_result("operations", (double)(count + 2 * steps), "count");
    return 0;
}
