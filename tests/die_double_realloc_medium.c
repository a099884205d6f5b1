/* expect: inkalloc: double free in realloc(PTR) */
/* realloc of a run range that was freed. */
#include "misuse.h"

int main(void)
{
    void *const p = malloc(100 << 10);

    announce(p);
    free(p);
    free(realloc(keep_ptr(p), 500 << 10));
    return survived();
}
