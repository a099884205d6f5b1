/* expect: inkalloc: interior pointer in free(PTR) */
/* Into a run range, in its first unit. */
#include "misuse.h"

int main(void)
{
    char *const p = malloc(200 << 10);

    free(announce(p + 16));
    return survived();
}
