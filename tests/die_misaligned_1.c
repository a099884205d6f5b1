/* expect: inkalloc: misaligned pointer in free(PTR) */
/* One byte into a block. */
#include "misuse.h"

int main(void)
{
    char *const p = malloc(64);

    free(announce(p + 1));
    return survived();
}
