/* expect: inkalloc: double free in free(PTR) */
/* As die_double_other, in a bin that has been at work for long. */
#include "misuse.h"

int main(void)
{
    static void *block[20000];
    void *const a = malloc(64);

    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 20000; ++i)
            block[i] = malloc(64);
        for (int i = 0; i < 20000; ++i)
            free(block[i]);
    }
    announce(a);
    free(a);
    free(malloc(64));
    malloc_trim(0);
    free(keep_ptr(a));
    malloc_trim(0);
    return survived();
}
