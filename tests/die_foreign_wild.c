/* expect: inkalloc: foreign pointer in free(PTR) */
/* An address that no mapping can have. */
#include "misuse.h"

int main(void)
{
    free(announce((void *)(UINTPTR_MAX / 16 * 13 / 16 * 16)));
    return survived();
}
