#!/bin/bash
# One table of glibc's malloc tests, a column for each allocator: compare.sh [ALLOCATOR...]
# Allocators are named as in bench/; a peer that is not installed is left out.

. "${INK_SRCDIR:?}/bench/lib.sh"
here=$INK_SRCDIR/tests/glibc
programs=$INK_BUILDDIR/tests/glibc-programs
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- inkalloc system $peers

# table FILE...: what run.sh printed for each allocator, in files of the allocators' names.
table() {
    awk '
        FNR == 1 { name[++files] = FILENAME }
        { result[$2, files] = $3; class[$2] = $1; run[$1]++; passed[$1, files] += $3 == "pass" }
        function row(first, second, words, i) {
            printf "%-5s %-29s", first, second
            for (i = 1; i <= files; i++)
                printf " %-*s", length(name[i]), words[i]
            printf "\n"
        }
        END {
            row("class", "program", name)
            while ((getline <table) > 0)
                if ($2 in class && $1 != "#") {
                    for (i = 1; i <= files; i++)
                        words[i] = result[$2, i]
                    row($1, $2, words)
                }
            classes = split("A I D G", class_of)
            for (c = 1; c <= classes; c++) {
                for (i = 1; i <= files; i++)
                    words[i] = passed[class_of[c], i] + 0 " of " run[class_of[c]] / files
                row(class_of[c], "passed", words)
            }
        }' table="$here/programs" "$@"
}

allocators=$(resolve "$@") || exit 1
bash "$here/build.sh" "$programs" || fail "glibc's tests cannot be built; Debian's glibc-source has the sources"
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
for allocator in $allocators; do
    library=${allocator#*=}
    echo "${allocator%%=*}" >&2
    bash "$here/run.sh" "$programs" "${library:-system}" A I D G | tee "${allocator%%=*}" | grep -v ' pass ' >&2
done
machine_line
# shellcheck disable=SC2046
table $(sed 's/=.*//' <<<"$allocators")
