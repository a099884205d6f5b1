#!/bin/bash
# Under the limits that a system sets, a program that stays within them lives: 64 MiB of memory (a control group), 64 of data and 96 of address space
# (ulimit), and a system that does not overcommit. What only root may set is set and restored, or left out with a word.

. "${INK_SRCDIR:?}/tests/lib.sh"
need "${CC%% *}" python3

# Takes 36 MiB in small blocks, in ranges, in one block, each after the other has been freed: none of them may keep what the next one needs.
# With an argument: takes all there is, until NULL, gives it back, and all must work again.
cat >"$scratch/breathe.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, PEAK = 36 * MIB };
static void *held[1 << 18];

static size_t size_of(unsigned kind, size_t i)
{
    return kind == 0 ? 16 + i * 7919 % 2000 : kind == 1 ? 40000 + i * 7919 % 500000 : PEAK;
}

static size_t take(unsigned kind, size_t most)
{
    size_t bytes = 0, n = 0;

    while (bytes < most && n < sizeof held / sizeof held[0]) {
        size_t size = size_of(kind, n);

        if (size > most - bytes)
            size = most - bytes < 16 ? 16 : most - bytes;
        held[n] = malloc(size);
        if (held[n] == NULL)
            break;
        memset(held[n++], 1, size);
        bytes += size;
    }
    return n;
}

static void give(size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(held[i * 611953 % n]), held[i * 611953 % n] = NULL;
    for (size_t i = 0; i < n; i++)
        free(held[i]), held[i] = NULL;
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? (size_t)1 << 33 : PEAK;

    (void)argv;
    for (int round = 0; round < 3; round++)
        for (unsigned kind = 0; kind < 3; kind++) {
            size_t n = take(kind, most);

            if (n == 0 || (argc > 1 && kind == 0 && n < 1000))
                return 2;
            give(n);
        }
    if (take(0, MIB) < 500)
        return 3;
    puts("alive");
    return 0;
}
END
$CC -O1 -o "$scratch/breathe" "$scratch/breathe.c" || fail "cannot build the program"

# alive WHAT COMMAND...: the command says so.
alive() {
    local what=$1 out code
    shift
    out=$("$@" 2>&1)
    code=$?
    [ "$out" = alive ] && [ $code = 0 ] || fail "$what: $out (exit code $code)"
    say "$what: alive"
}

with_limit() {
    ulimit "$1" "$2" && shift 2 && LD_PRELOAD=$INK_LIB "$@"
}

alive "64 MiB of data (ulimit -d)" with_limit -d 65536 "$scratch/breathe"
alive "96 MiB of address space (ulimit -v)" with_limit -v 98304 "$scratch/breathe"
alive "all of 128 MiB of address space" with_limit -v 131072 "$scratch/breathe" all
alive "all of 128 MiB of data" with_limit -d 131072 "$scratch/breathe" all

# A pool of huge pages that is empty, or soon is: the rest comes from elsewhere.
pooled() {
    INKALLOC_CONF=hugetlb:true LD_PRELOAD=$INK_LIB "$@"
}
alive "hugetlb:true, whatever the pool holds" pooled "$scratch/breathe"

# ---- a control group ----

group=
for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    [ -z "$group" ] && [ -w $root/cgroup.procs ] && mkdir "$root/inkalloc.$$" 2>/dev/null && group=$root/inkalloc.$$
done
leave_group() {
    [ -z "$group" ] || rmdir "$group" 2>/dev/null
}
in_group() {
    local limit
    for limit in memory.limit_in_bytes memory.max; do
        [ -w "$group/$limit" ] && echo $((64 * 1024 * 1024)) >"$group/$limit" && break
    done || return
    # Without swap: what does not fit is killed.
    for limit in memory.memsw.limit_in_bytes memory.swap.max; do
        [ ! -w "$group/$limit" ] || echo $((64 * 1024 * 1024)) >"$group/$limit" 2>/dev/null
    done
    (
        echo $BASHPID >"$group/cgroup.procs" || exit
        LD_PRELOAD=$INK_LIB exec "$@"
    )
}
if [ -n "$group" ] && { [ -w "$group/memory.limit_in_bytes" ] || [ -w "$group/memory.max" ]; }; then
    trap 'leave_group; rm -rf "$scratch"' EXIT
    alive "64 MiB in a control group" in_group "$scratch/breathe"
    leave_group
else
    leave_group
    say "left out: no control group of memory may be made here"
fi

# ---- settings of the whole system: only if asked for, as whatever else runs meanwhile is under them too ----

[ "${INK_TEST_SYSTEM:-no}" = yes ] || {
    say "left out: overcommit_memory 2 and THP always; INK_TEST_SYSTEM=yes sets them, as root, and restores them"
    exit 0
}

# set_it FILE VALUE: until the end of this shell or unset_it.  Builtins only: a fork may be refused.
restore_file='' restore_value=''
unset_it() {
    [ -z "$restore_file" ] || echo "$restore_value" >"$restore_file"
    restore_file=
}
trap 'unset_it; leave_group; rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
set_it() {
    read -r restore_value <"$1"
    restore_value=${restore_value##*[} restore_value=${restore_value%%]*}
    restore_file=$1
    echo "$2" >"$1"
}
preloaded() {
    LD_PRELOAD=$INK_LIB "$@"
}

file=/proc/sys/vm/overcommit_memory
room=$(awk '/CommitLimit/ { limit = $2 } /Committed_AS/ { print int((limit - $2) / 1024) }' /proc/meminfo)
if [ -w $file ] && [ "$room" -gt 2000 ]; then
    set_it $file 2
    alive "a system that does not overcommit" preloaded "$scratch/breathe"
    unset_it
else
    say "left out: $file may not be set here, or the machine has promised all its memory"
fi

file=/proc/sys/vm/nr_hugepages
if [ -w $file ] && grep -q '^Hugepagesize: *2048 kB' /proc/meminfo && [ "$(cat $file)" -eq 0 ]; then
    set_it $file 8
    pages=$(cat $file)
    alive "hugetlb:true with $pages pages in the pool" pooled "$scratch/breathe"
    used=$(pooled python3 -c 'held = [bytes(5000) for i in range(8000)]; print(open("/proc/self/status").read())' |
        awk '$1 == "HugetlbPages:" { print $2 }')
    free=$(awk '$1 == "HugePages_Free:" { print $2 }' /proc/meminfo)
    unset_it
    [ "$pages" -lt 4 ] || [ "${used:-0}" -ge $((pages * 2048)) ] || fail "only ${used:-0} KiB are from the pool of $pages pages"
    [ "$free" -eq "$pages" ] || fail "$free of $pages pages are in the pool afterwards"
    say "hugetlb:true: $used KiB from the pool"
else
    say "left out: $file may not be set here, or somebody uses it"
fi

file=/sys/kernel/mm/transparent_hugepage/enabled
scenes=$INK_BUILDDIR/bench/work_memory
if [ -w $file ] && [ -x "$scenes" ]; then
    set_it $file always
    bytes=$(preloaded "$scenes" sleepers | awk '$1 == "per_thread" { print int($2) }')
    unset_it
    [ -n "$bytes" ] && [ "$bytes" -le 65536 ] || fail "THP always: a sleeping thread holds ${bytes:-?} bytes"
    say "THP always: a thread with one block holds $bytes bytes"
else
    say "left out: $file may not be set here"
fi
