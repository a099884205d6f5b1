/* expect: inkalloc: foreign pointer in realloc(PTR) */
/* realloc of an address in the data of the program. */
#include "misuse.h"

static _Alignas(16) char array[64];

int main(void)
{
    free(realloc(announce(array), 100));
    return survived();
}
