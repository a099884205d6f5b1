/* expect: inkalloc: double free in free(PTR) */
/* Two threads free one run range, one after the other. */
#include "misuse.h"

#include <pthread.h>

static void *free_it(void *p)
{
    free(p);
    return NULL;
}

int main(void)
{
    pthread_t id;
    void *const p = malloc(100 << 10);

    announce(p);
    check_eq(pthread_create(&id, NULL, free_it, p), 0);
    check_eq(pthread_join(id, NULL), 0);
    free(keep_ptr(p));
    return survived();
}
