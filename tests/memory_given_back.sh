#!/bin/bash
# Memory goes back with the frees: the scenes of bench/work_memory, smaller than the bench's, end below the bounds that users were promised.

. "${INK_SRCDIR:?}/tests/lib.sh"
scenes=${INK_BUILDDIR:?}/bench/work_memory
[ -x "$scenes" ] || skip "bench/work_memory is not built here"
[ "${INK_SANITIZER:-none}" = none ] || skip "a sanitizer's run time owns malloc"

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
# A piece of the map for each 2 MiB, and 64.
at_most maps 4096 lines $((4096 / 2 + 64))

# Nine tenths on huge pages, if there are any to be had.
if grep -q '\[madvise\]\|\[always\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null; then
    small=$(LD_PRELOAD=$INK_LIB "$scenes" dense 512 | awk '$1 == "huge" { print 1 - $2 }')
    say "dense 512: a share of ${small:-?} on small pages"
    # Memory may be too fragmented for any: that is not ours.
    LD_PRELOAD=$INK_LIB INKALLOC_CONF=thp:never "$scenes" dense 64 | grep -q '^huge 0.000' || {
        say "FAILED thp:never: huge pages all the same"
        failed=1
    }
    awk -v s="${small:-1}" 'BEGIN { exit !(s <= 0.15 || s == 1) }' || failed=1
fi

# Nothing may stay if the user says so.
value=$(LD_PRELOAD=$INK_LIB INKALLOC_CONF=dirty_max:0 "$scenes" freed 64 | awk '$1 == "resident" { print $2 }')
say "freed 64 with dirty_max:0: $value"
awk -v v="$value" -v most=$((6 * mib)) 'BEGIN { exit !(v <= most) }' || failed=1
exit $failed
