#!/bin/bash
# tar with xz -T2 and zstd -T2: both compressors start threads and use big buffers.

. "${INK_SRCDIR:?}/tests/lib.sh"
need tar xz zstd awk sha256sum

mkdir "$scratch/tree"
text 60000 | split -l 500 - "$scratch/tree/part"
ln -s partaa "$scratch/tree/link"

work() {
    set -o pipefail
    local pack=(tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$scratch" -c)
    "${pack[@]}" -I 'xz -T2 -1 --block-size=512KiB' -f tree.tar.xz tree
    "${pack[@]}" -I 'zstd -q -T2 -9' -f tree.tar.zst tree
    sha256sum tree.tar.xz tree.tar.zst
    mkdir from_xz from_zst
    tar -C from_xz -I 'xz -T2' -xf tree.tar.xz
    tar -C from_zst -I 'zstd -T2' -xf tree.tar.zst
    diff -r "$scratch/tree" from_xz/tree && diff -r "$scratch/tree" from_zst/tree && echo same
    tar -I 'xz -T2' -tvf tree.tar.xz | sha256sum
    head -c 100000 tree.tar.xz | tar -I xz -tf - | sha256sum
    head -c 1000 tree.tar.zst | zstd -q -t
    tar -xf /missing/file
}

compare 2 work
prove tar tar -cf /dev/null "$scratch/tree"
prove xz xz -T2 -k -c "$scratch/tree/partaa"
prove zstd zstd -q -T2 -c "$scratch/tree/partaa"
