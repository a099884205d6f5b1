#!/bin/bash
# What scales is decided by what is shared: atomic read-modify-writes for a thousand calls of malloc and free, counted in the build
# that counts them, must not become more than they are.  docs/benchmarks.md says what they mean on large machines.
. "${INK_SRCDIR:?}/tests/lib.sh"
library=$INK_BUILDDIR/bench/.libs/libinkcounting.so
[ -f "$library" ] || fail "$library is not built"
# The locked head takes its lock by two of them more; the figures are those of the one that is the default.
[ "$INK_HEAD" = index ] || skip "the bounds are those of --with-head=index"

# bound WORKLOAD ARGUMENTS CALLS BOUND: at least so many calls, at most so many read-modify-writes for a thousand of them, and some.
bound() {
    local program=$1 arguments=$2 calls=$3 most=$4
    rm -f "$scratch/counts"
    # shellcheck disable=SC2086
    INK_COUNTS=$scratch/counts LD_PRELOAD=$library "$INK_BUILDDIR/bench/work_$program" $arguments >"$scratch/out" ||
        fail "work_$program $arguments fails on the counting build"
    awk -v what="$program $arguments" -v calls="$calls" -v most="$most" '
        { n += $2; rmw += $4; retries += $6 }
        END {
            printf "%s: %d calls, %.2f read-modify-writes and %.3f retries for a thousand (bound %s)\n",
                what, n, rmw / n * 1000, retries / n * 1000, most
            exit n < calls || rmw == 0 || rmw / n * 1000 > most
        }' "$scratch/counts" || fail "work_$program $arguments is beyond its bound"
}

bound origin 1 1000000 0.1
bound origin 6 1000000 0.1
bound larson plain 3000000 22
bound cold '' 1900000 45
bound xmalloc '' 4000000 48
bound tree tree 700000 42
bound threads crowd 9000000 10
