#!/bin/bash
# Programs compiled and linked with gcc -flto, which sees malloc and free as built-in functions and
# decides late what to take out of an archive: shared and static.

. "${INK_SRCDIR:?}/tests/lib.sh"
need gcc nm readelf
install_tree

link gcc -flto -O2 -Wall -Wextra -pthread -I "$includedir" -o "$scratch/shared" \
    "$INK_SRCDIR/tests/link_program.c" -L "$libdir" -linkalloc
served "$scratch/shared"
link gcc -flto -static -O2 -Wall -Wextra -pthread -I "$includedir" -o "$scratch/static" \
    "$INK_SRCDIR/tests/link_program.c" -L "$libdir" -linkalloc
static "$scratch/static"
served "$scratch/static"
