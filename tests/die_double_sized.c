/* expect: inkalloc: double free in free(PTR) */
/* Freed with a size, and once more with a size that is wrong: the size is not looked at. */
#include "misuse.h"

int main(void)
{
    void (*const free_with_size)(void *, size_t) =
        (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
    void *const p = malloc(64);

    announce(p);
    check(free_with_size != NULL);
    free_with_size(p, 64);
    free_with_size(keep_ptr(p), 5000);
    return survived();
}
