/* expect: inkalloc: interior pointer in free(PTR) */
/* Into a mapping of its own, near its start. */
#include "misuse.h"

int main(void)
{
    char *const p = malloc(8 << 20);

    free(announce(p + 4096));
    return survived();
}
