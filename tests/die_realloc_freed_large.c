/* expect: inkalloc: double free in realloc(PTR) */
/* realloc of a large block that was freed. */
#include "misuse.h"

int main(void)
{
    void *const p = malloc(8 << 20);

    announce(p);
    free(p);
    free(realloc(keep_ptr(p), 16 << 20));
    return survived();
}
