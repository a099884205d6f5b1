/* Frees many small blocks in random order: bench_coldfree [warm|fresh [BLOCKS]].
 *
 * The blocks are allocated and written in order, then freed in an order drawn before the clock
 * starts, so that nearly every free meets a block and a chunk that the CPU's caches have forgotten.
 * Both phases are timed apart.  warm goes through one build-up and one freeing in order first,
 * untimed, so that the build-up meets memory that the allocator holds already; fresh does not, and
 * its build-up includes the kernel's page faults.  The blocks are faulted in before they are freed
 * either way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

enum { BLOCK_BYTES = 48, BLOCKS_DEFAULT = 3000000 };

/* A mapping of our own, faulted in: the bench's arrays must not be the allocator's blocks. */
static void **pointer_array(size_t items)
{
    size_t bytes = items * sizeof(void *);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        perror("bench_coldfree: mmap");
        exit(1);
    }
    return memset(p, 1, bytes);
}

static void build(void **blocks, size_t items)
{
    for (size_t i = 0; i < items; i++)
        blocks[i] = memset(bench_check(malloc(BLOCK_BYTES)), 1, BLOCK_BYTES);
}

static void release(void **blocks, size_t items)
{
    for (size_t i = 0; i < items; i++)
        free(blocks[i]);
}

static void shuffle(void **blocks, size_t items)
{
    for (size_t i = items - 1; i > 0; i--) {
        size_t j = bench_random() % (i + 1);
        void *p = blocks[i];

        blocks[i] = blocks[j];
        blocks[j] = p;
    }
}

int main(int argc, char **argv)
{
    bool warm = argc < 2 || strcmp(argv[1], "warm") == 0;
    size_t items = argc > 2 ? strtoul(argv[2], NULL, 10) : BLOCKS_DEFAULT;
    void **blocks;
    double start, built, shuffled, freed;

    if (argc > 3 || (!warm && strcmp(argv[1], "fresh") != 0) || items == 0) {
        fputs("usage: bench_coldfree [warm|fresh [BLOCKS]]\n", stderr);
        return 2;
    }
    blocks = pointer_array(items);
    if (warm) {
        build(blocks, items);
        release(blocks, items);
    }

    start = bench_cpu_ns();
    build(blocks, items);
    built = bench_cpu_ns();
    shuffle(blocks, items);
    shuffled = bench_cpu_ns();
    release(blocks, items);
    freed = bench_cpu_ns();

    bench_result("malloc", (built - start) / (double)items, "ns");
    bench_result("free", (freed - shuffled) / (double)items, "ns");
    return 0;
}
