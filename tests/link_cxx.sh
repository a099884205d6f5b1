#!/bin/bash
# A C++ program linked with the installed library, shared and with g++ -static.

. "${INK_SRCDIR:?}/tests/lib.sh"
need "${CXX%% *}" nm readelf
install_tree
fresh_work

link $CXX -std=c++17 -O2 -Wall -Wextra -pthread -I "$includedir" -o "$scratch/shared" \
    "$INK_SRCDIR/tests/link_program.cc" -L "$libdir" -linkalloc
served "$scratch/shared"
soname=$(readelf -d "$scratch/shared" | sed -n 's/.*NEEDED.*\[\(libinkalloc[^]]*\)\]/\1/p')
(
    export LD_LIBRARY_PATH=$libdir
    bound shared "$libdir/$soname" "$scratch/shared"
) || exit 1

link $CXX -static -std=c++17 -O2 -Wall -Wextra -pthread -I "$includedir" -o "$scratch/static" \
    "$INK_SRCDIR/tests/link_program.cc" -L "$libdir" -linkalloc
static "$scratch/static"
served "$scratch/static"
