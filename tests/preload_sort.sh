#!/bin/bash
# sort: in memory with threads, with temporary files and their merge, and with errors.

. "${INK_SRCDIR:?}/tests/lib.sh"
need sort awk sha256sum

text 150000 >"$scratch/text"

work() {
    sort --parallel=2 "$scratch/text" | sha256sum
    sort -S 1M -T . -k 2,2 -k 1,1n "$scratch/text" | sha256sum
    sort -n -u -k 3,3 "$scratch/text" | tail -n 5
    sort -R --random-source="$scratch/text" "$scratch/text" | sha256sum
    sort -c "$scratch/text"
    sort "$scratch/text" /missing/file
}

compare 2 work
prove sort sort "$scratch/text"
