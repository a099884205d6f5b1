#!/bin/bash
# glibc's tests of fork beside malloc, ten times each, as a deadlock needs its moment: none may hang.  Of those
# that take minutes the versions with a tenth of the iterations; with INK_TEST_LONG set, the whole ones.

. "${INK_SRCDIR:?}/tests/lib.sh"
need /usr/src/glibc/glibc-*.tar.xz "${CC%% *}" xz objdump timeout
programs=$INK_BUILDDIR/tests/glibc-programs
rounds=10
names="tst-malloc-fork-deadlock tst-mallocfork mallocfork2-tenth mallocfork3-tenth"
[ -z "${INK_TEST_LONG:-}" ] || names="tst-malloc-fork-deadlock tst-mallocfork tst-mallocfork2 tst-mallocfork3"

bash "$INK_SRCDIR/tests/glibc/build.sh" "$programs" >"$scratch/build" 2>&1 ||
    fail "glibc's tests cannot be built: $(tail -n 20 "$scratch/build")"
for ((round = 0; round < rounds; round++)); do
    echo "$names"
done | xargs bash "$INK_SRCDIR/tests/glibc/run.sh" "$programs" "$INK_LIB" | tee "$scratch/results"

for name in $names; do
    passed=$(grep -c " $name *pass " "$scratch/results")
    say "$name: $passed of $rounds"
    [ "$passed" = $rounds ] || fail "$name does not pass each time:" "$(grep " $name " "$scratch/results")"
done
