#!/bin/bash
# The same C program linked with the installed library in all ways, by gcc and clang, each at -O2 and -O3.
# With -flto the compiler sees malloc and free as built-in functions and decides late what to take out of an
# archive.

. "${INK_SRCDIR:?}/tests/lib.sh"
need nm readelf
find_compilers
install_tree

# program NAME COMPILER OPTION...
program() {
    local name=$1
    shift
    link "$@" -Wall -Wextra -pthread -I "$includedir" -o "$scratch/$name" "$INK_SRCDIR/tests/link_program.c" \
        -L "$libdir" -Wl,--no-as-needed -linkalloc
    served "$scratch/$name"
}

for compiler in $compilers; do
    for level in -O2 -O3; do
        program "$compiler$level-shared" $compiler $level
        program "$compiler$level-shared-lto" $compiler $level -flto
        for way in static static-pie; do
            program "$compiler$level-$way" $compiler $level -$way
            static "$scratch/$compiler$level-$way"
            program "$compiler$level-$way-lto" $compiler $level -$way -flto
            static "$scratch/$compiler$level-$way-lto"
        done
    done
done
