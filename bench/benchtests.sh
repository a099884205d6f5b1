#!/bin/bash
# Builds glibc's bench-malloc-simple and bench-malloc-thread outside glibc: benchtests.sh DIRECTORY
# Debian's package glibc-source has the sources.  They are unpacked in DIRECTORY and stay there; the programs end up in DIRECTORY/bin.
# What is up to date is not built again.
#
# Two things are not as in glibc: the clock is the process's CPU time, as the wall clock of a shared machine measures the
# neighbours; and bench-malloc-thread runs for one second instead of ten, since its figure is a rate.
set -u -o pipefail

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?names a directory to build in}" && cd "$1" || exit 1
packed=$(ls /usr/src/glibc/glibc-*.tar.xz 2>/dev/null | tail -n 1)
if [ ! -f "$packed" ]; then
    echo "glibc's benchtests need Debian's package glibc-source" >&2
    exit 1
fi

unpack() {
    rm -rf glibc bin
    mkdir -p glibc/headers bin
    tar -xJf "$packed" -C glibc --strip-components=1 --wildcards \
        'glibc-*/benchtests/bench-malloc-*.c' 'glibc-*/benchtests/bench-timing.h' 'glibc-*/benchtests/json-lib.[ch]' \
        'glibc-*/sysdeps/generic/hp-timing.h' 'glibc-*/sysdeps/generic/hp-timing-common.h' || return
    : >glibc/headers/_itoa.h
    cat >glibc/headers/cputime.h <<END
#include <time.h>
#undef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID
END
    sed -i 's/^\(#define BENCHMARK_DURATION\).*/\1 1/' glibc/benchtests/bench-malloc-thread.c
    grep -q 'BENCHMARK_DURATION 1$' glibc/benchtests/bench-malloc-thread.c
}

compile() {
    ${CC:-cc} -O2 -w -pthread -fno-builtin -D_GNU_SOURCE -D_ISOMAC -DUSE_CLOCK_GETTIME -Iglibc -Iglibc/benchtests \
        -Iglibc/headers -Iglibc/sysdeps/generic -include glibc/headers/cputime.h "glibc/benchtests/$1.c" \
        glibc/benchtests/json-lib.c -lm -o "bin/$1"
}

newest=$(ls -t "$here/benchtests.sh" "$packed" built 2>/dev/null | head -n 1)
[ "$newest" = built ] && exit
rm -f built
unpack && compile bench-malloc-simple && compile bench-malloc-thread && touch built
