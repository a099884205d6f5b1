#!/bin/bash
# Memory goes back with the frees: the scenes of bench/work_memory, smaller than the bench's, end below the bounds that users were promised.

. "${INK_SRCDIR:?}/tests/lib.sh"
scenes=${INK_BUILDDIR:?}/bench/work_memory
[ "${INK_SANITIZER:-none}" = none ] || skip "a sanitizer's run time owns malloc"
[ -x "$scenes" ] || fail "$scenes is not built"

mib=$((1024 * 1024))
failed=0

# at_most SCENE N RESULT BOUND: the result that the scene prints is no number above the bound.
at_most() {
    local value
    value=$(LD_PRELOAD=$INK_LIB "$scenes" "$1" "$2" | awk -v name="$3" '$1 == name { print $2 }')
    if [ -n "$value" ] && awk -v v="$value" -v most="$4" 'BEGIN { exit !(v <= most) }'; then
        say "$1 $2: $3 is $value, at most $4"
    else
        say "FAILED $1 $2: $3 is ${value:-missing}, at most $4"
        failed=1
    fi
}

# The peers keep all of it, and these are the bounds for a whole gigabyte.
for scene in freed asleep exited tiny; do
    at_most $scene 192 resident $((24 * mib))
    at_most $scene 192 trimmed $((8 * mib))
done
at_most sparse 192 per_live 8
at_most thousand 1000 per_thread $((48 * 1024))
at_most sleepers 100 per_thread $((64 * 1024))
at_most sequence 3000 growth $((256 * 1024))
# Nor does a single free pay for all: in one go, this takes 130 ms.
at_most stall 192 longest 20000000
# A piece of the map for each 2 MiB, and 64.
at_most maps 4096 lines $((4096 / 2 + 64))

# Nine tenths on huge pages, if a mapping that asks for them is given any: memory may be too fragmented, which is not ours.
cat >"$scratch/huge.c" <<'END'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int main(void)
{
    enum { BYTES = 64 << 20, HUGE = 2 << 20 };
    char line[200], *p = mmap(NULL, BYTES + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    long kib = 0;
    if (p == MAP_FAILED || file == NULL)
        return 1;
    p = (char *)(((uintptr_t)p + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
    madvise(p, BYTES, MADV_HUGEPAGE);
    memset(p, 1, BYTES);
    while (fgets(line, sizeof line, file) != NULL)
        sscanf(line, "AnonHugePages: %ld", &kib);
    return kib < BYTES / 1024 / 10 * 9;
}
END
$CC -O1 -o "$scratch/huge" "$scratch/huge.c" || fail "cannot build the control"
if "$scratch/huge"; then
    share=$(LD_PRELOAD=$INK_LIB "$scenes" dense 512 | awk '$1 == "huge" { print $2 }')
    say "dense 512: a share of ${share:-none} on huge pages, at least 0.9"
    awk -v s="${share:-0}" 'BEGIN { exit !(s >= 0.9) }' || failed=1
    share=$(LD_PRELOAD=$INK_LIB INKALLOC_CONF=thp:never "$scenes" dense 64 | awk '$1 == "huge" { print $2 }')
    say "dense 64 with thp:never: ${share:-none}, none"
    [ "$share" = 0.000 ] || failed=1
else
    say "left out: a plain mapping that asks for huge pages is given none"
fi

# Nothing may stay if the user says so.
value=$(LD_PRELOAD=$INK_LIB INKALLOC_CONF=dirty_max:0 "$scenes" freed 64 | awk '$1 == "resident" { print $2 }')
say "freed 64 with dirty_max:0: $value, at most $((6 * mib))"
awk -v v="${value:-none}" -v most=$((6 * mib)) 'BEGIN { exit !(v + 0 == v && v <= most) }' || failed=1
exit $failed
