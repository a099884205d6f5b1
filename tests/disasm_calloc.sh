#!/bin/bash
# The objects through which an allocation goes do not call calloc.  Compilers make such a call of malloc and
# memset, which is endless inside calloc; whether they do depends on the compiler and its level, so all are
# tried, with the flags that the Makefile compiles the library with.

. "${INK_SRCDIR:?}/tests/lib.sh"
need make objdump nm
find_compilers

# command_of COMPILER LEVEL: what the Makefile runs, without the source's name, and without warnings, of which
# each compiler has its own.  Before it may stand that the Makefile remakes itself.
command_of() {
    make -s -C "$INK_BUILDDIR" CC="$1" CFLAGS="$2" INK_WARN_CFLAGS=-w \
        --eval 'ink-compile: ; @echo $(COMPILE)' ink-compile | tail -n 1
}

# Calls of the function or its alias, and addresses taken of it, as instructions or as relocations.  Jumps
# inside it have an offset, and its own label begins a line.
calls_of_calloc() {
    local name='(__libc_)?calloc(\.[a-z0-9]+)*'
    objdump -d -r --no-show-raw-insn "$1" | grep -E "(R_[A-Z0-9_]+[[:space:]]+|<)$name([-+@>]|\$)" |
        grep -v -E "^[0-9a-f]+ <|<$name\+0x"
}

objects=0
for compiler in $compilers; do
    for level in -O2 -O3; do
        compile=$(command_of $compiler $level) || fail "the Makefile does not say how it compiles"
        for name in malloc heap operators; do
            object=$scratch/$name.o
            # The build directory has config.h.
            (cd "$INK_BUILDDIR" && $compile -fPIC -c "$INK_SRCDIR/src/$name.c" -o "$object") ||
                fail "$compiler $level: $name.c does not compile"
            found=$(calls_of_calloc "$object")
            [ -z "$found" ] || fail "$compiler $level: $name.c calls calloc: $found"
            objects=$((objects + 1))
        done
        nm "$scratch/malloc.o" | grep -q ' T calloc$' || fail "$compiler $level: malloc.c has no calloc"
    done
done
say "$objects objects, none of which calls calloc"
[ $objects -gt 0 ]
