/* expect: inkalloc: double free in free(PTR) */
/* The first free has long been drained; its neighbour keeps the run alive. */
#include "misuse.h"

int main(void)
{
    static void *block[20000];
    void *const a = malloc(64), *const neighbour = malloc(64);

    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 20000; ++i)
            block[i] = malloc(64);
        for (int i = 0; i < 20000; ++i)
            free(block[i]);
    }
    announce(a);
    free(a);
    malloc_trim(0);
    free(keep_ptr(a));
    malloc_trim(0);
    free(neighbour);
    return survived();
}
