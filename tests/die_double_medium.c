/* expect: inkalloc: double free in free(PTR) */
/* A run range. */
#include "misuse.h"

int main(void)
{
    void *const p = malloc(100 << 10);

    announce(p);
    free(p);
    free(keep_ptr(p));
    return survived();
}
