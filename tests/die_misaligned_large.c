/* expect: inkalloc: misaligned pointer in free(PTR) */
/* Eight bytes into a large block. */
#include "misuse.h"

int main(void)
{
    char *const p = malloc(8 << 20);

    free(announce(p + 8));
    return survived();
}
