/* expect: inkalloc: foreign pointer in free(PTR) */
/* A28: a block of another allocator, one that uses brk as libc's does. */
#include "misuse.h"

int main(void)
{
    uintptr_t const top = (uintptr_t)sbrk(4096);

    check(top != (uintptr_t)-1);
    free(announce((void *)((top + 31) / 16 * 16)));
    return survived();
}
