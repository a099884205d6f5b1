/* expect: inkalloc: foreign pointer in free(PTR) */
/* An address on the stack. */
#include "misuse.h"

int main(void)
{
    _Alignas(16) char array[64];

    free(announce(array));
    return survived();
}
