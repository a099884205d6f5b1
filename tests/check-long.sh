#!/bin/bash
# make check-long: every test, the stress tests longer, then the tests of builds whose head is not the one of this build, with both
# compilers, and with the double-width compare-and-swap made by libatomic.  Logs are in long/ of the build directory.  About an hour;
# INK_TEST_SECONDS=10 shortens it.
set -u
: "${INK_SRCDIR:?is set by make check-long}" "${INK_BUILDDIR:?}"
export INK_TEST_SECONDS=${INK_TEST_SECONDS:-60} INK_TEST_LONG=1
logs=$INK_BUILDDIR/long
jobs=$(nproc)
failed=0

# name, then configure's arguments
builds='
wide          --with-head=wide
locked        --with-head=locked
libatomic     --with-head=wide ink_cv_wide_cas=libatomic
clang-wide    CC=clang CXX=clang++ --with-head=wide
clang-locked  CC=clang CXX=clang++ --with-head=locked
tsan-wide     --with-head=wide --with-sanitizer=thread
tsan-locked   --with-head=locked --with-sanitizer=thread
'

# run NAME COMMAND...: its log, and one line that says how it ended.
run() {
    local name=$1
    shift
    echo "check-long: $name ..."
    if "$@" >"$logs/$name.log" 2>&1 </dev/null; then
        echo "check-long: $name: $(grep -c '^PASS' "$logs/$name.log") passed, $(grep -c '^SKIP' "$logs/$name.log") skipped"
    else
        echo "check-long: $name FAILED: $(grep '^FAIL' "$logs/$name.log" | tr '\n' ' ')see $logs/$name.log"
        failed=$((failed + 1))
    fi
}

# with_head NAME ARGUMENT...: tests of a build of its own: those of the core, the exported functions and the links.
with_head() {
    local dir=$logs/$1 pattern='test_|race_|api_|die_|exports|head|preloaded|cxx_static|link_'
    shift
    mkdir -p "$dir" && cd "$dir" && "$INK_SRCDIR/configure" -q "$@" && make -s -j "$jobs" || return 1
    case "$*" in
    *sanitizer*) pattern='test_|race_core|race_heads' ;;
    # Depends on more than libc, by design, and a static program must name libatomic.
    *libatomic*) pattern='test_|race_|api_|die_|head' ;;
    esac
    make -s -j "$jobs" check INK_TEST_LIMIT=3600 \
        TESTS="$(make -s list-tests | tr ' ' '\n' | grep -E "^tests/($pattern)" | tr '\n' ' ')"
}

mkdir -p "$logs"
run check make -s -C "$INK_BUILDDIR" -j "$jobs" check INK_TEST_LIMIT=3600
while read -r name arguments; do
    # shellcheck disable=SC2086
    [ -z "$name" ] || run "$name" with_head "$name" $arguments
done <<<"$builds"
[ $failed -eq 0 ]
