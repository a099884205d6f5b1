/* expect: inkalloc: misaligned pointer in free(PTR) */
/* Eight bytes into a block. */
#include "misuse.h"

int main(void)
{
    char *const p = malloc(64);

    free(announce(p + 8));
    return survived();
}
