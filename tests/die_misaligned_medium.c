/* expect: inkalloc: misaligned pointer in free(PTR) */
/* Eight bytes into a run range. */
#include "misuse.h"

int main(void)
{
    char *const p = malloc(200 << 10);

    free(announce(p + 8));
    return survived();
}
