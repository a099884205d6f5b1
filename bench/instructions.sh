#!/bin/bash
# Counts instructions per operation with callgrind: instructions.sh [--peers] [ALLOCATOR]...
# An allocator is inkalloc (the default), system, a peer's Debian package, or NAME=LIBRARY.  The
# figure is the difference of two run lengths divided by the operations between.  Callgrind leaves
# malloc alone, unlike memcheck, so LD_PRELOAD decides who is counted.
set -u -o pipefail
srcdir=$(cd "$(dirname "$0")" && pwd)
. "$srcdir/lib.sh"

loops="pair churn batch calloc realloc"
program=$INK_BUILDDIR/bench/bench_instructions
per_loop=20000 # operations between the two run lengths
batch_items=1000

# count LIBRARY LOOP N
count() {
    LD_PRELOAD=$1 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$program" "$2" "$3" 2>&1 | awk '/Collected :/ { n = $NF } END { print n; exit n == "" }'
}

# figure LIBRARY LOOP
figure() {
    local n=$per_loop once twice
    [ "$2" = batch ] && n=$((per_loop / batch_items))
    once=$(count "$1" "$2" "$n") && twice=$(count "$1" "$2" $((2 * n))) ||
        fail "valgrind could not count $2 under '$1'"
    awk "BEGIN { printf \"%.1f\n\", ($twice - $once) / $per_loop }"
}

allocators=()
for arg in "$@"; do
    case $arg in
    --peers) allocators+=(system $peers) ;;
    -*) fail "unknown option $arg: give --peers or allocators" ;;
    *) allocators+=("$arg") ;;
    esac
done
[ ${#allocators[@]} -gt 0 ] || allocators=(inkalloc)

command -v valgrind >/dev/null || fail "valgrind is not installed"
[ -x "$program" ] || fail "$program is not built"
resolved=$(resolve "${allocators[@]}") || exit 1

machine_line
printf '%-22s %8s %8s %8s %8s %8s\n' "instructions" $loops
while IFS='=' read -r name lib; do
    figures=()
    for loop in $loops; do
        figures+=("$(figure "$lib" "$loop")") || exit 1
    done
    printf '%-22s %8s %8s %8s %8s %8s\n' "$name" "${figures[@]}"
done <<<"$resolved"
printf '%-22s %8s %8s %8s %8s %8s\n' "bounds of inkalloc" \
    $(awk '!/^#/ { print $2 }' "$srcdir/instructions.bounds")
