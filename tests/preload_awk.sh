#!/bin/bash
# awk: associative arrays, string building, splitting, commands that it starts, and an error.

. "${INK_SRCDIR:?}/tests/lib.sh"
need awk sha256sum

text 150000 >"$scratch/text"

cat >"$scratch/program" <<'END'
{
    sum[$2] += $1
    seen[$1 % 5000] = seen[$1 % 5000] substr($6, 1, 2)
    gsub(/[0-9]+/, "<&>")
    width += length($0)
    n = split($0, part, /[<>]+/)
    fields += n
    if (NR % 16 == 0) {
        long = long toupper($4)
    }
}
END {
    for (key in sum) {
        keys++
        total += sum[key]
    }
    printf "%d %.0f %d %d %d\n", keys, total, width, fields, length(long)
    for (i = 0; i < 5000; i += 250) {
        print i, seen[i] | "sort"
    }
    close("sort")
    command = "echo " length(seen[7]) "; echo two"
    while ((command | getline line) > 0) {
        print line
    }
    delete sum
    for (i = 0; i < 300000; i++) {
        sum[i % 1000, i % 7] = "v" i
    }
    print sum[999, 1], sprintf("%2000s|", "x") ~ / x/
    exit 5
}
END

work() {
    awk -f "$scratch/program" "$scratch/text" >counted
    echo $?
    sha256sum <counted
    cat counted
    awk 'BEGIN { print 1 ' || echo $?
    awk '{ print }' /missing/file
}

compare 2 work
prove awk awk '{ n[$1] = $0 } END { print length(n) }' "$scratch/text"
