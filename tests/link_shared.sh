#!/bin/bash
# A C program linked with the installed shared library: -linkalloc, nothing preloaded.

. "${INK_SRCDIR:?}/tests/lib.sh"
need "${CC%% *}"
install_tree
fresh_work

link $CC -O2 -Wall -Wextra -pthread -I "$includedir" -o "$scratch/shared" \
    "$INK_SRCDIR/tests/link_program.c" -L "$libdir" -linkalloc
served "$scratch/shared"
soname=$(readelf -d "$scratch/shared" | sed -n 's/.*NEEDED.*\[\(libinkalloc[^]]*\)\]/\1/p')
export LD_LIBRARY_PATH=$libdir
bound shared "$libdir/$soname" "$scratch/shared"
