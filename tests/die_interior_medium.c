/* expect: inkalloc: interior pointer in free(PTR) */
/* Into a run range, one unit away from its start. */
#include "misuse.h"

int main(void)
{
    char *const p = malloc(200 << 10);

    free(announce(p + 65536));
    return survived();
}
