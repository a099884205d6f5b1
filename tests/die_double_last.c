/* expect: inkalloc: double free in free(PTR) */
/* The block that was freed last. */
#include "misuse.h"

int main(void)
{
    void *const p = malloc(64);

    announce(p);
    free(p);
    free(keep_ptr(p));
    return survived();
}
