#!/bin/bash
# glibc's own malloc tests on inkalloc: all that any replacement should pass, and all that ask the allocator
# about itself.  make glibc-tests shows what the peers make of them.

. "${INK_SRCDIR:?}/tests/lib.sh"
need /usr/src/glibc/glibc-*.tar.xz "${CC%% *}" xz objdump timeout
programs=$INK_BUILDDIR/tests/glibc-programs

# all CLASS COUNT
all() {
    local passed
    passed=$(grep -c "^$1 [^ ]* *pass " "$scratch/results")
    say "class $1: $passed of $2"
    [ "$passed" = "$2" ] || fail "of class $1 fail:" "$(grep "^$1 " "$scratch/results" | grep -v ' pass ')"
}

bash "$INK_SRCDIR/tests/glibc/build.sh" "$programs" >"$scratch/build" 2>&1 ||
    fail "glibc's tests cannot be built: $(tail -n 20 "$scratch/build")"
bash "$INK_SRCDIR/tests/glibc/run.sh" "$programs" "$INK_LIB" A I | tee "$scratch/results"
all A 30
all I 3
