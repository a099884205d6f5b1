/* expect: inkalloc: foreign pointer in malloc_usable_size(PTR) */
/* The size of an address in the data of the program. */
#include "misuse.h"

static _Alignas(16) char array[64];

int main(void)
{
    if (malloc_usable_size(announce(array)) == 1)
        return 2;
    return survived();
}
