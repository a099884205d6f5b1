/* expect: inkalloc: misaligned pointer in free(PTR) */
/* An odd address in the data of the program: no allocator aligns so, and that is what is said
 * first. */
#include "misuse.h"

static _Alignas(16) char array[64];

int main(void)
{
    free(announce(array + 4));
    return survived();
}
