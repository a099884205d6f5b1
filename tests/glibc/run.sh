#!/bin/bash
# Runs programs that build.sh has built: run.sh DIRECTORY LIBRARY|system CLASS|PROGRAM...
# As many at once as there are processors; a program may be named more than once.  Prints a line each:
# CLASS PROGRAM RESULT SECONDS REASON, where the result is pass, fail, hang or none (not built, unsupported).
set -u

here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${1:?names the directory of build.sh}" && pwd)/bin || exit 1
library=${2:?names the library to preload, or system}
shift 2
[ "$library" != system ] || library=
# The programs' own time limits are for a machine that does nothing else.
export TIMEOUTFACTOR=${TIMEOUTFACTOR:-5}

# A class, which is a letter, stands for all of its programs.
named() {
    local word
    for word; do
        case $word in
        ?) awk -v class="$word" '$1 == class { print $2 }' "$here/programs" ;;
        *) echo "$word" ;;
        esac
    done
}

# environment PROGRAM: what it needs in its environment, above all the library.  glibc runs two programs with
# its own checking allocator, which only its own malloc can be tried with.
environment() {
    case $1,$library in
    tst-malloc-check, | tst-malloc-usable,) echo LD_PRELOAD=libc_malloc_debug.so.0 MALLOC_CHECK_=3 ;;
    tst-mxfast,*) echo "LD_PRELOAD=$library" GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0 ;;
    *) echo "LD_PRELOAD=$library" ;;
    esac
}

# result PROGRAM STATUS OUTPUT
result() {
    case $1,$2 in
    # This one says how it went, and always exits with 0.
    mallocbug,0) grep -q '^PASS' "$3" && echo pass || echo fail ;;
    *,0) echo pass ;;
    *,77 | *,127) echo none ;;
    *,124 | *,137) echo hang ;;
    *) grep -q '^Timed out' "$3" && echo hang || echo fail ;;
    esac
}

reason() {
    grep -a -i -m 1 -E 'error|fail|abort|signal|timed out|not true|inkalloc:|free\(\)' "$1" | cut -c 1-100
}

# A program ends itself and its children when its time is over, and also on an interrupt: that is for one whose
# watching process hangs as well.
run() {
    local program=$1 class output start status verdict words=
    class=$(awk -v name="$program" '$2 == name { print $1 }' "$here/programs")
    output=$(mktemp -d)
    start=${EPOCHREALTIME/./}
    # shellcheck disable=SC2046
    (
        ulimit -c 0
        cd "$output" && TMPDIR=$output exec timeout -s INT -k 20 "${LIMIT:-550}" \
            env $(environment "$program") "$bin/$program" >out 2>&1 </dev/null
    )
    status=$?
    verdict=$(result "$program" $status "$output/out")
    [ "$verdict" = pass ] || words="exit code $status: $(reason "$output/out")"
    printf '%s %-30s %-4s %6.1f %s\n' "$class" "$program" "$verdict" \
        "$(((${EPOCHREALTIME/./} - start) / 100000))e-1" "$words"
    rm -rf "$output"
}

export here bin library
export -f run environment result reason
named "$@" | xargs -P "$(nproc)" -I '{}' bash -c 'run {}'
