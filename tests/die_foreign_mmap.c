/* expect: inkalloc: foreign pointer in free(PTR) */
/* A page of the program's own. */
#include "misuse.h"

#include <sys/mman.h>

int main(void)
{
    void *const p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    check(p != MAP_FAILED);
    free(announce(p));
    return survived();
}
