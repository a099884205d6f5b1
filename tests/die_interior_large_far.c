/* expect: inkalloc: interior pointer in free(PTR) */
/* Into a mapping of its own, far from its start. */
#include "misuse.h"

int main(void)
{
    char *const p = malloc(8 << 20);

    free(announce(p + (4 << 20)));
    return survived();
}
