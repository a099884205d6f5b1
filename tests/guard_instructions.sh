#!/bin/bash
# Holds the instructions per operation (bench/instructions.sh) against bench/instructions.bounds,
# which a figure may exceed by 2: room for another compiler's patch release, not for a feature.
set -u
tolerance=2

skip() {
    echo "skipped: $*"
    exit 77
}

fail() {
    echo "$*"
    exit 1
}

# A missing program may hide the test on somebody's machine, not in CI.
need() {
    command -v "$1" >/dev/null && return
    [ -z "${CI:-}" ] || fail "$1 is not installed"
    skip "$1 is not installed"
}

[ -f "$INK_LIB" ] || fail "$INK_LIB is not built"

[ "${INK_HOST_IS_BUILD:-yes}" = yes ] || skip "built for another machine"
need readelf
[[ $(readelf -h "$INK_LIB") = *X86-64* ]] || skip "the bounds are those of x86-64"
[ "${INK_SANITIZER:-none}" = none ] || skip "a sanitizer adds its own instructions"
! grep -q '^#define INK_DEBUG_LEVEL [1-9]' "$INK_BUILDDIR/config.h" ||
    skip "a debug build adds its checks"
grep -q '^CFLAGS = .*-O[23]' "$INK_BUILDDIR/Makefile" || skip "the library is not built with -O2"
[[ $(${CC:-cc} -dM -E - </dev/null) != *__clang__* ]] ||
    skip "the bounds are gcc's: clang 14 takes 3 to 13 instructions more"
need valgrind

table=$("$INK_SRCDIR/bench/instructions.sh" inkalloc) || exit 1
echo "$table"
awk -v tolerance=$tolerance '
    /^#/ { next }
    FILENAME == ARGV[1] { bound[$1] = $2; bounds++; next }
    $1 == "instructions" { for (i = 2; i <= NF; i++) loop[i] = $i }
    $1 == "inkalloc" {
        for (i = 2; i <= NF; i++) {
            held += $i <= bound[loop[i]] + tolerance
            if ($i > bound[loop[i]] + tolerance)
                printf "%s takes %s instructions, bound %s and %s\n",
                    loop[i], $i, bound[loop[i]], tolerance
        }
    }
    END { exit !(bounds > 0 && held == bounds) }
' "$INK_SRCDIR/bench/instructions.bounds" - <<<"$table"
