#!/bin/bash
# purge_thread: memory that a program frees goes back although it makes no further call; the thread takes none of the program's signals and stands in the way of nothing.
# The control: without the option there is no thread, and the memory stays.

. "${INK_SRCDIR:?}/tests/lib.sh"
need "${CC%% *}"

$CC -O1 -o "$scratch/probe" "$INK_SRCDIR/tests/purge_thread.c" || fail "cannot build the program"

# run OPTIONS [fork]: sets full, left, threads and setuid.
run() {
    local out
    out=$(INKALLOC_CONF=$1 LD_PRELOAD=$INK_LIB "$scratch/probe" ${2-} 2>"$scratch/err") || fail "the program fails under '$1'"
    [ ! -s "$scratch/err" ] || fail "something on stderr under '$1': $(cat "$scratch/err")"
    read -r full left threads setuid <<<"$out"
    say "'$1' ${2-}: $full KiB, $left KiB left, $threads threads, setuid $setuid"
    [ "$full" -ge 9000 ] || fail "10 MiB were written to"
    [ "$setuid" -eq 0 ] || fail "setuid fails"
}

run decay:1,purge_thread:true
[ "$left" -le 1024 ] || fail "it has not gone back within 5 seconds"
[ "$threads" -eq 2 ] || fail "there must be one thread more"

run decay:1
[ "$left" -ge 6000 ] || fail "who gives it back without a call and without a thread?"
[ "$threads" -eq 1 ] || fail "a thread that nobody has asked for"

run decay:0,purge_thread:true
[ "$threads" -eq 1 ] || fail "there is nothing to do for a thread"

run decay:1,purge_thread:true fork
[ "$threads" -eq 1 ] || fail "a child of fork has no thread"

# Which signals the two threads block: the second all but 32 to 34, and the two that nobody can.
expected="0000000000000000 fffffffc7ffbfeff "
INKALLOC_CONF=purge_thread:true LD_PRELOAD=$INK_LIB sleep 30 &
for _ in {1..50}; do
    sleep 0.1
    blocked=$(awk '/^SigBlk:/ { print $2 }' /proc/$!/task/*/status 2>/dev/null | tr '\n' ' ')
    [ "$blocked" = "$expected" ] && break
done
kill $!
say "blocked signals: $blocked"
[ "$blocked" = "$expected" ] || fail "these are not the ones"

# A program of one thread that was linked without any can have none, and says so.
if $CC -O1 -static -o "$scratch/static" "$INK_SRCDIR/tests/purge_thread.c" "$INK_STATIC_LIB" 2>"$scratch/err"; then
    INKALLOC_CONF=decay:1,purge_thread:true "$scratch/static" >"$scratch/out" 2>"$scratch/err" || fail "the static program fails"
    read -r full left threads setuid <"$scratch/out"
    if [ "$threads" -eq 1 ]; then
        grep -q '^inkalloc: INKALLOC_CONF: purge_thread: the thread cannot be started; ' "$scratch/err" || fail "no word of the thread that is missing"
    else
        [ "$left" -le 1024 ] || fail "it has not gone back in a static program"
    fi
    say "static: $threads threads, $left KiB left"
else
    cat "$scratch/err"
    fail "cannot link a static program"
fi
