#!/bin/bash
# What inkalloc adds to the start of a program: at most 8 system calls and 30 page faults more than an
# empty library that is preloaded instead, and at most 128 KiB of private dirty memory. It is judged on
# true, which may never call malloc, and the memory also on a program that allocates a little.

. "${INK_SRCDIR:?}/tests/lib.sh"
need "${CC%% *}"

max_calls=8 max_faults=30 max_dirty_kib=128 runs=15

cat >"$scratch/empty.c" <<'END'
int inkalloc_is_not_here;
END
# The options with which libinkalloc.so is linked (Makefile.am).
$CC -O2 -shared -fPIC -Wl,-z,now -Wl,-z,relro -Wl,-z,noexecstack -Wl,-z,nodelete \
    -Wl,--no-as-needed -lc -o "$scratch/empty.so" "$scratch/empty.c" || fail "cannot build the empty library"
cat >"$scratch/allocate.c" <<'END'
#include <stdlib.h>
#include <string.h>
int main(void)
{
    /* What the C library takes in a small program: names, a stream, buffers. */
    static const size_t sizes[] = {24, 100, 472, 1024, 4096};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    void *volatile block[COUNT];
    for (int i = 0; i < COUNT; i++) {
        block[i] = malloc(sizes[i]);
        if (!block[i]) {
            return 1;
        }
        memset(block[i], 1, sizes[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        free(block[i]);
    }
    return 0;
}
END
$CC -O0 -o "$scratch/allocate" "$scratch/allocate.c" || fail "cannot build the allocating program"
$CC -O2 -Wall -Wextra -o "$scratch/startup_probe" "$INK_SRCDIR/tests/startup_probe.c" ||
    fail "cannot build the probe"

# Pages of a file that was written a moment ago count as dirty until they are on the disk.
sync "$INK_LIB" "$scratch"/*.so "$scratch/allocate"

# measure PROGRAM: sets calls, faults and dirty_kib to what inkalloc adds to it.
measure() {
    local base ours b o
    base=$("$scratch/startup_probe" $runs "$scratch/empty.so" "$1") || fail "cannot measure $1"
    ours=$("$scratch/startup_probe" $runs "$INK_LIB" "$1") || fail "cannot measure $1 under inkalloc"
    read -r -a b <<<"$base"
    read -r -a o <<<"$ours"
    calls=$((o[0] - b[0])) faults=$((o[1] - b[1])) dirty_kib=$((o[2] - b[2]))
    printf '%s: %+d system calls (%d -> %d), %+d page faults (%d -> %d), %+d KiB private dirty (%d -> %d)\n' \
        "${1##*/}" $calls ${b[0]} ${o[0]} $faults ${b[1]} ${o[1]} $dirty_kib ${b[2]} ${o[2]}
}

measure /usr/bin/true
[ $calls -le $max_calls ] || fail "$calls system calls more; $max_calls are allowed"
[ $faults -le $max_faults ] || fail "$faults page faults more; $max_faults are allowed"
[ $dirty_kib -le $max_dirty_kib ] || fail "$dirty_kib KiB more are dirty; $max_dirty_kib are allowed"

measure "$scratch/allocate"
[ $dirty_kib -le $max_dirty_kib ] || fail "$dirty_kib KiB more are dirty; $max_dirty_kib are allowed"
prove allocate "$scratch/allocate"
