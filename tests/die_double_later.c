/* expect: inkalloc: double free in free(PTR) */
/* A large block, long after its first free, with other large blocks made and freed since. */
#include "misuse.h"

int main(void)
{
    void *const p = malloc(8 << 20), *keep[50];

    announce(p);
    for (int i = 0; i < 50; ++i)
        keep[i] = malloc((size_t)(9 + i) << 20);
    free(p);
    for (int i = 0; i < 50; i += 2)
        free(keep[i]);
    free(keep_ptr(p));
    return survived();
}
