/* expect: inkalloc: misaligned pointer in realloc(PTR) */
/* realloc of eight bytes into a block. */
#include "misuse.h"

int main(void)
{
    char *const p = malloc(64);

    free(realloc(announce(p + 8), 100));
    return survived();
}
