/* Touches memory once and gives it back: touch MIB; prints the CPU time of one page fault, "fault N
 * ns".
 *
 * On a virtual machine the host backs a page when it is first touched, which takes many times
 * longer than the fault that a benchmark is to count.  What was touched stays backed, unless the
 * host takes free pages back at once, as some do: then no warming helps, and the figure printed
 * says so. */
#include <sys/mman.h>

#include "bench.h"

enum { PAGE_BYTES = 4096 };

int main(int argc, char **argv)
{
    size_t bytes = (argc == 2 ? strtoul(argv[1], NULL, 10) : 0) << 20;
    double start;
    char *p;

    if (bytes == 0) {
        fputs("usage: touch MIB\n", stderr);
        return 2;
    }
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (p == MAP_FAILED) {
        perror("touch: mmap");
        return 1;
    }
    madvise(p, bytes, MADV_NOHUGEPAGE);
    start = bench_cpu_ns();
    for (size_t i = 0; i < bytes; i += PAGE_BYTES)
        p[i] = 1;
    bench_result("fault", (bench_cpu_ns() - start) * PAGE_BYTES / (double)bytes, "ns");
    return 0;
}
