/* expect: inkalloc: interior pointer in free(PTR) */
/* Sixteen bytes into a small block: noticed at the latest when its batch drains. */
#include "misuse.h"

int main(void)
{
    static void *filler[3000];
    char *const p = malloc(64);

    for (int i = 0; i < 3000; ++i)
        filler[i] = malloc(64);
    free(announce(p + 16));
    for (int i = 0; i < 3000; ++i)
        free(filler[i]);
    malloc_trim(0);
    return survived();
}
