#!/bin/bash
# Another preloaded library stands in front of open, mmap, munmap, madvise and pthread_create, and looks the real ones up at the first
# call, which allocates: the circles that have locked up other allocators (P1, P2, P3).  Under both, programs do what they do alone.

. "${INK_SRCDIR:?}/tests/lib.sh"
need "${CC%% *}" bash python3

cat >"$scratch/hook.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static long calls;

/* What a tracer does at each call: state of its own, made with calloc. */
static void *real(const char *name)
{
    void *state = calloc(3, 100);
    void *found = dlsym(RTLD_NEXT, name);
    free(realloc(state, 100000));
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    return found;
}

#define REAL(type, name) ((type)real(name))

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    return REAL(void *(*)(void *, size_t, int, int, int, off_t), "mmap")(at, n, protection, flags, fd, offset);
}

int munmap(void *at, size_t n)
{
    return REAL(int (*)(void *, size_t), "munmap")(at, n);
}

int madvise(void *at, size_t n, int advice)
{
    return REAL(int (*)(void *, size_t, int), "madvise")(at, n, advice);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    return REAL(int (*)(const char *, int, ...), "open")(path, flags, mode);
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return REAL(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), "pthread_create")(
        id, attributes, run, argument);
}

__attribute__((destructor)) static void report(void)
{
    if (getenv("HOOK_REPORT") != NULL && calls > 0)
        (void)!write(2, "hooked\n", 7);
}
END
link $CC -O1 -fno-builtin -w -shared -fPIC -o "$scratch/hook.so" "$scratch/hook.c" -ldl

interposed_bash() {
    bash -c 'for i in 1 2 3 4 5 6 7 8; do x=$(echo "$i" | cat); echo "$x"; done; printf "%s\n" {1..2000} | sort -rn | head -3'
}

interposed_python() {
    python3 -c '
import mmap, os, threading
m = mmap.mmap(-1, 1 << 20)
m[0:3] = b"abc"
done = []
def work(i):
    for k in range(200):
        with open("/dev/null", "w") as f: f.write("x" * k)
    done.append(sum(len(str(j) * 9) for j in range(3000)))
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
m.close()
print(done, os.waitstatus_to_exitcode(os.system("true")))'
}

for order in before after; do
    # lib.sh preloads INK_LIB: together with the other one.
    (
        [ $order = before ] && INK_LIB="$scratch/hook.so $INK_LIB" || INK_LIB="$INK_LIB $scratch/hook.so"
        compare 0 interposed_bash
        compare 0 interposed_python
    ) || exit 1
done
HOOK_REPORT=1 LD_PRELOAD="$scratch/hook.so $INK_LIB" python3 -c 'import threading; t = threading.Thread(); t.start(); t.join()' 2>"$scratch/hooked"
grep -q hooked "$scratch/hooked" || fail "the hooks were never called, so nothing was tried"
