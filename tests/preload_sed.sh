#!/bin/bash
# sed: substitutions with groups, the hold space, in-place editing, files written, and its errors.

. "${INK_SRCDIR:?}/tests/lib.sh"
need sed awk sha256sum

text 120000 >"$scratch/text"

work() {
    sed -E 's/([a-z]+)([0-9]+)/\2\1/g; s/ +/\t/3; y/abc/ABC/' "$scratch/text" | sha256sum
    sed -n 'H; ${x; s/\n/,/g; s/[0-9]*,/;/g; p}' "$scratch/text" | sha256sum
    sed -e '/ag/w kept' -e '$!N; P; D' "$scratch/text" | sha256sum
    sha256sum kept
    sed -n '1!G; h; 2000{p; q}' "$scratch/text" | sha256sum
    cp "$scratch/text" edited
    sed -i -E -e 's/(.*) (.*) $/\2=\1/' -e '1~7d' edited
    sha256sum edited
    sed 's/\(a/b/' edited
    sed p /missing/file
}

compare 2 work
prove sed sed -E 's/(a+)/<\1>/' "$scratch/text"
