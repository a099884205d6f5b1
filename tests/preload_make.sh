#!/bin/bash
# config.status and make -j2 of this project itself, outside its source tree: hundreds of processes
# of sh, sed, grep, awk, make, libtool, gcc, as and ld; every object must come out the same.

. "${INK_SRCDIR:?}/tests/lib.sh"
need make tar sha256sum "${CC%% *}"
need "$INK_SRCDIR/configure"

# A copy without what a build in the tree itself has left there.
mkdir "$scratch/src"
tar -C "$INK_SRCDIR" --exclude-vcs --exclude="./${INK_BUILDDIR#"$INK_SRCDIR"/}" --exclude=./build \
    --exclude=config.status --exclude=Makefile --exclude=config.h \
    --exclude=.libs --exclude=.deps --exclude='*.o' --exclude='*.lo' --exclude='*.la' \
    -cf - . | tar -C "$scratch/src" -xf -

# Each file is compiled once and not hard: it is the number of processes that matters here.
run_as system "$scratch/src/configure" --disable-static CFLAGS=-O0
[ "$(cat "$scratch/system.code")" = 0 ] || fail "configure: $(cat "$scratch/system.err")"
mv "$scratch/work" "$scratch/configured"

work() {
    cp -a "$scratch/configured/." .
    ./config.status || return 1
    make -j2 libinkalloc.la >made || return 1
    sort made
    find . -name '*.o' -o -name '*.lo' -o -name libinkalloc.so | sort | while read -r file; do
        sha256sum "$file"
    done
    LD_PRELOAD=$PWD/.libs/libinkalloc.so INKALLOC_CONF=banner:true true || return 1
    make no-such-target
}

compare 2 work
printf 'all:\n\techo one; echo two\n' >"$scratch/Makefile"
prove make make -f "$scratch/Makefile"
