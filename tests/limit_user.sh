#!/bin/bash
# The user's own limits: under limit_hard python3 gets a MemoryError where it asks for too much, goes on, and its memory stays below the limit;
# under limit_soft it is refused nothing, and once it has freed no more stays than the limit.  A program that asks for little notices neither.

. "${INK_SRCDIR:?}/tests/lib.sh"
need python3

cat >"$scratch/script.py" <<'END'
import sys


def resident_mib():
    with open("/proc/self/smaps_rollup") as rollup:
        for line in rollup:
            if line.startswith("Rss:"):
                return int(line.split()[1]) / 1024


start = resident_mib()
held, refused = [], 0
for step in range(3):
    try:
        for i in range(100000):
            held.append(bytearray(4000 if i % 2 else 300000))
            if len(held) * 152000 > 256 << 20:
                break
    except MemoryError:
        refused += 1
    most = resident_mib() - start
    held.clear()
print(refused, round(most), round(resident_mib() - start))
END

# run OPTIONS: sets refused, most and left.
run() {
    local out
    out=$(INKALLOC_CONF=$1 LD_PRELOAD=$INK_LIB PYTHONMALLOC=malloc python3 "$scratch/script.py" 2>"$scratch/err") ||
        fail "python3 does not go on under '$1': $(cat "$scratch/err")"
    [ ! -s "$scratch/err" ] || fail "something on stderr under '$1': $(cat "$scratch/err")"
    read -r refused most left <<<"$out"
    say "'$1': refused $refused times, at most $most MiB, $left MiB in the end"
}

run limit_hard:64M
[ "$refused" -eq 3 ] || fail "each round asks for 256 MiB and must be refused"
[ "$most" -le 72 ] || fail "64 MiB and their records are allowed"
[ "$most" -ge 40 ] || fail "the limit is hardly used"

run limit_soft:64M
[ "$refused" -eq 0 ] || fail "a soft limit refuses nothing"
[ "$most" -ge 200 ] || fail "256 MiB were asked for"
[ "$left" -le 72 ] || fail "more than the limit stays"

run banner:false
[ "$refused" -eq 0 ] && [ "$most" -ge 200 ] || fail "without a limit nothing is refused"

[ "$(INKALLOC_CONF=limit_hard:0 LD_PRELOAD=$INK_LIB python3 -c 'print(len(bytearray(1 << 27)))')" = 134217728 ] ||
    fail "0 is no limit"
INKALLOC_CONF=limit_hard:2M LD_PRELOAD=$INK_LIB /usr/bin/true || fail "a small program does not start in 2 MiB"
prove python3 python3 "$scratch/script.py"
