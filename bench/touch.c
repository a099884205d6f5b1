/* Touches memory once and gives it back: touch MIB.  On a virtual machine the host backs a page when it is first touched, which takes many
 * times longer than the fault that a benchmark is to count; what was touched stays backed.  Ends early, and well, when memory does. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    size_t bytes = (argc == 2 ? strtoul(argv[1], NULL, 10) : 0) << 20;
    char *p;

    if (bytes == 0) {
        fputs("usage: touch MIB\n", stderr);
        return 2;
    }
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("touch: mmap");
        return 1;
    }
    for (size_t i = 0; i < bytes; i += 4096)
        p[i] = 1;
    return 0;
}
