/* expect: inkalloc: double free in free(PTR) */
/* A mapping of its own. */
#include "misuse.h"

int main(void)
{
    void *const p = malloc(8 << 20);

    announce(p);
    free(p);
    free(keep_ptr(p));
    return survived();
}
