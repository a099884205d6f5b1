#!/bin/bash
# grep: many patterns, back references, both engines, a multi-byte locale, and its errors.

. "${INK_SRCDIR:?}/tests/lib.sh"
need grep awk sha256sum

text 120000 >"$scratch/text"
awk 'NR % 40 == 0 { print $2; print $6 }' "$scratch/text" | head -n 4000 >"$scratch/patterns"

work() {
    grep -c -F -f "$scratch/patterns" "$scratch/text"
    grep -E '(.)(.)[0-9]*\2\1' "$scratch/text" | sha256sum
    grep -P -o '\b[a-e]{2}(?=\d{3})' "$scratch/text" | sha256sum
    LC_ALL=C.UTF-8 grep -i -n -w 'ab[0-9]*\|É' "$scratch/text" | sha256sum
    grep -n -B2 -A2 'ag99[0-9]' "$scratch/text" | head -n 30
    grep -r -l 'zz' "$scratch/patterns" .
    grep 'a\{1' "$scratch/text"
    grep x /missing/file
}

compare 2 work
prove grep grep -E '[a-c]+1' "$scratch/text"
