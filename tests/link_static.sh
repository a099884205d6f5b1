#!/bin/bash
# A C program linked statically with the installed libinkalloc.a: every name of libc's malloc.o comes
# from ours, so the linker neither takes libc's in nor finds a name twice, nor warns about dlopen.

. "${INK_SRCDIR:?}/tests/lib.sh"
need "${CC%% *}" nm readelf
install_tree

link $CC -static -O2 -Wall -Wextra -pthread -I "$includedir" -o "$scratch/static" \
    "$INK_SRCDIR/tests/link_program.c" -L "$libdir" -linkalloc
static "$scratch/static"
served "$scratch/static"

# A segment that no file backs would keep valgrind from reading the symbols of the whole program.
! readelf -lW "$scratch/static" | grep -E 'LOAD +(0x[0-9a-f]+ +){3}0x0+ ' || fail "the linker made such a segment"

# The archive named by its path, and a program that is position independent as well.
link $CC -static-pie -O2 -Wall -Wextra -pthread -I "$includedir" -o "$scratch/static-pie" \
    "$INK_SRCDIR/tests/link_program.c" "$libdir/libinkalloc.a"
static "$scratch/static-pie"
served "$scratch/static-pie"

# The library of a build tree is the one that is installed.
cmp "$INK_STATIC_LIB" "$libdir/libinkalloc.a" || fail "make install changed libinkalloc.a"
