/* expect: inkalloc: foreign pointer in free(PTR) */
/* A28: an address is judged without being read: nothing is mapped there any more. */
#include "misuse.h"

#include <sys/mman.h>

int main(void)
{
    void *const p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    check(p != MAP_FAILED);
    check_eq(munmap(p, 4096), 0);
    free(announce(p));
    return survived();
}
