/* expect: inkalloc: double free in free(PTR) */
/* Another block was freed in between: noticed at the latest when the batch drains. */
#include "misuse.h"

int main(void)
{
    void *const a = malloc(64), *const b = malloc(64);

    announce(a);
    free(a);
    free(b);
    free(keep_ptr(a));
    malloc_trim(0);
    return survived();
}
