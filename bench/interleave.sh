#!/bin/bash
# Runs a bench under several allocators, interleaved, the order rotated every round:
#   interleave.sh [-r ROUNDS] [-b RESULT:BOUND] ALLOCATOR... -- BENCH [ARGUMENT]...
# An allocator is inkalloc, system, a peer's Debian package, or NAME=LIBRARY.  BENCH prints one
# line per result, "name value unit", lower is better.  Prints median, minimum and maximum, and the
# median's ratio to the best one; with -b also each other allocator's ratio to the best of the system
# and the peers on RESULT, and whether it is within BOUND.
set -u -o pipefail
. "$(dirname "$0")/lib.sh"

rounds=7
bound=
while getopts r:b: option; do
    case $option in
    r) rounds=$OPTARG ;;
    b) bound=$OPTARG ;;
    *) fail "usage: [-r ROUNDS] [-b RESULT:BOUND] ALLOCATOR... -- BENCH [ARGUMENT]..." ;;
    esac
done
shift $((OPTIND - 1))

wanted=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    wanted+=("$1")
    shift
done
[ $# -ge 2 ] || fail "no bench given after --"
shift
[ -x "$1" ] || fail "$1 is not built"
resolved=$(resolve "${wanted[@]}") || exit 1
mapfile -t allocators <<<"$resolved"

# Every line of every run: result, allocator, value, unit.
runs() {
    local count=${#allocators[@]} round i name lib
    for ((round = 0; round < rounds; round++)); do
        for ((i = 0; i < count; i++)); do
            IFS='=' read -r name lib <<<"${allocators[(round + i) % count]}"
            LD_PRELOAD=$lib "$@" | awk -v name="$name" '{ print $1, name, $2, $3 }' ||
                fail "$1 failed under $name"
        done
    done
}

machine_line
echo "# ${*##*/}: $rounds rounds, interleaved"
runs "$@" | sort -k1,1 -k2,2 -k3,3g | awk -v order="${allocators[*]%%=*}" -v bound="$bound" \
    -v peers="system $peers" '
    {
        key = $1 SUBSEP $2
        value[key, ++n[key]] = $3
        if (!($1 in unit))
            result[++results] = $1
        unit[$1] = $4
    }
    function median(key,  h) {
        h = int((n[key] + 1) / 2)
        return n[key] % 2 ? value[key, h] : (value[key, h] + value[key, h + 1]) / 2
    }
    function is_peer(who) {
        return index(" " peers " ", " " who " ") > 0
    }
    function best(of, only_peers,  i, m, b) {
        for (i = 1; i <= names; i++) {
            if (only_peers && !is_peer(name[i]))
                continue
            m = median(of SUBSEP name[i])
            if (b == "" || m < b)
                b = m
        }
        return b
    }
    END {
        names = split(order, name, " ")
        for (r = 1; r <= results; r++) {
            of = result[r]
            printf "%-22s %9s %9s %9s %7s\n", of ", " unit[of], "median", "min", "max", "x best"
            for (i = 1; i <= names; i++) {
                key = of SUBSEP name[i]
                printf "%-22s %9.2f %9.2f %9.2f %7.2f\n", name[i], median(key), value[key, 1],
                    value[key, n[key]], median(key) / best(of, 0)
            }
        }
        split(bound, b, ":")
        for (i = 1; bound != "" && i <= names; i++) {
            if (is_peer(name[i]) || best(b[1], 1) == "")
                continue
            ratio = median(b[1] SUBSEP name[i]) / best(b[1], 1)
            printf "%s: %s takes %.2f of the best peer; bound %s: %s\n",
                b[1], name[i], ratio, b[2], ratio <= b[2] ? "held" : "MISSED"
        }
    }'
