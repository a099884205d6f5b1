#!/bin/bash
# A program on libc's malloc opens the library with dlopen, uses it from threads and closes it again: there is room for its
# thread-local storage (P10), and the threads that have used it end well after the close, as it stays loaded (P18).

. "${INK_SRCDIR:?}/tests/lib.sh"
need "${CC%% *}"

cat >"$scratch/open.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *(*take)(size_t);
static void (*give)(void *);
static pthread_barrier_t used, closed;

static void *use(void *unused)
{
    for (size_t n = 1; n < 3000000; n = n * 2 + 1) {
        char *p = take(n);
        if (p == NULL)
            abort();
        memset(p, 1, n);
        give(p);
    }
    if (unused != NULL) {
        pthread_barrier_wait(&used);
        pthread_barrier_wait(&closed);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t id[3];
    int mode = argc > 2 ? RTLD_NOW | RTLD_GLOBAL : RTLD_LAZY | RTLD_LOCAL;
    void *library = dlopen(argv[1], mode);

    if (library == NULL) {
        puts(dlerror());
        return 1;
    }
    *(void **)&take = dlsym(library, "malloc");
    *(void **)&give = dlsym(library, "free");
    if (take == NULL || take == malloc || dlsym(library, "inkalloc_version") == NULL)
        return 2;
    pthread_barrier_init(&used, NULL, 4);
    pthread_barrier_init(&closed, NULL, 4);
    use(NULL);
    for (int i = 0; i < 3; i++)
        if (pthread_create(&id[i], NULL, use, id) != 0)
            return 3;
    pthread_barrier_wait(&used);
    if (dlclose(library) != 0)
        return 4;
    pthread_barrier_wait(&closed);
    for (int i = 0; i < 3; i++)
        pthread_join(id[i], NULL);
    puts("opened and closed");
    return 0;
}
END
link $CC -O1 -fno-builtin -Wall -Wextra -pthread -o "$scratch/open" "$scratch/open.c" -ldl
for scope in '' global; do
    "$scratch/open" "$INK_LIB" $scope >"$scratch/out" 2>&1 || fail "dlopen: ended with $?: $(cat "$scratch/out")"
    grep -q -x 'opened and closed' "$scratch/out" || fail "it printed: $(cat "$scratch/out")"
done
say "opened and closed, in a scope of its own and in the program's"
