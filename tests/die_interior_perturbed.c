/* expect: inkalloc: interior pointer in free(PTR) */
/* Sixteen bytes into a small block while M_PERTURB is on: noticed before it is filled, which would
 * reach into the next. */
#include "misuse.h"

int main(void)
{
    char *const p = malloc(64);

    check(mallopt(M_PERTURB, 0x55) == 1);
    free(announce(p + 16));
    return survived();
}
