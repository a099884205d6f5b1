#!/bin/bash
# Reads the built library's code: a cursor is stored from a register, never read-modify-written in
# memory, since whoever takes a cache marks its cursors and an add would move the mark.  Compilers
# make such an add by themselves from a load and a store.  Also: the library does not reach malloc,
# calloc, realloc or free through the PLT, and calloc is not compiled into a call of itself.
set -u -o pipefail

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

need objdump
need readelf
[[ $(readelf -h "$INK_LIB") = *X86-64* ]] || skip "the library is not for x86-64"
[ "${INK_SANITIZER:-none}" = none ] || skip "a sanitizer changes the code"

status=0

# report TITLE LINES: nothing where there are no lines.
report() {
    [ -n "$2" ] || return 0
    printf '%s:\n%s\n' "$1" "$2"
    status=1
}

# code [OPTION]...: one instruction a line, without objdump's comments.
code() {
    objdump -d --no-show-raw-insn "$@" "$INK_LIB" | sed -n 's/ *#.*//; /^ *[0-9a-f]*:\t/p'
}

# Of the code read, operations that change memory other than the stack in place.
in_place() {
    grep -P '\t(add|sub|inc|dec|adc|sbb|and|or|xor|neg|not)[bwlq]? +.*(\)|%[fg]s:[^,]*)$' |
        grep -v '(%rsp[^)]*)$'
}

# The symbols of one exported function: itself, and the parts that the compiler split off.
symbols=$({ nm -S "$INK_LIB"; nm -DS "$INK_LIB"; } 2>/dev/null | sed 's/@.*//' | sort -u)
for name in malloc free calloc realloc; do
    parts=$(awk -v n="$name" '$4 == n || index($4, n ".") == 1' <<<"$symbols")
    [ -n "$parts" ] || report "no code found for" "$name"
    while read -r start size _ symbol; do
        text=$(code --start-address="0x$start" --stop-address="$((0x$start + 0x$size))")
        [ -n "$text" ] || report "no code found for" "$symbol"
        report "$symbol changes memory in place" "$(in_place <<<"$text")"
        report "$symbol calls itself" "$(grep -P "\t(call|jmp) .*<$symbol>" <<<"$text")"
    done <<<"$parts"
done

report "a step of one slot made in memory" \
    "$(code | in_place | grep -P '\t(add|sub)q? +\$0x(f{15})?8,')"
# A34
report "functions reached through the PLT or the GOT" \
    "$(readelf -rW "$INK_LIB" | grep -E ' (malloc|calloc|realloc|free)(@| |$)')"

exit $status
