/* expect: inkalloc: foreign pointer in free(PTR) */
/* An address in the data of the program. */
#include "misuse.h"

static _Alignas(16) char array[64];

int main(void)
{
    free(announce(array));
    return survived();
}
