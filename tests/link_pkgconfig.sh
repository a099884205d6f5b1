#!/bin/bash
# Programs linked through pkg-config, shared and with --static; also one that never calls malloc itself
# and would lose the library to --as-needed, or the object out of the archive.

. "${INK_SRCDIR:?}/tests/lib.sh"
pkg_config=${PKG_CONFIG:-pkg-config}
need "${CC%% *}" "$pkg_config" nm readelf
install_tree
fresh_work

PKG_CONFIG_PATH=$(dirname "$(find "$root" -name inkalloc.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$root
# A prefix of /usr is under our root, too.
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1

version=$("$pkg_config" --modversion inkalloc) || fail "pkg-config does not find inkalloc"
link $CC -O2 -pthread -o "$scratch/shared" "$INK_SRCDIR/tests/link_program.c" \
    $("$pkg_config" --cflags --libs inkalloc)
served "$scratch/shared"
grep -qxF "served by $version" "$scratch/served.out" || fail "pkg-config says version $version"
link $CC -static -O2 -pthread -o "$scratch/static" "$INK_SRCDIR/tests/link_program.c" \
    $("$pkg_config" --static --cflags --libs inkalloc)
static "$scratch/static"
served "$scratch/static"

cat >"$scratch/indirect.c" <<'END'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char *copy = strdup(argv[argc - 1]);
    return copy == NULL || puts(copy) < 0;
}
END
link $CC -O2 -Wl,--as-needed -o "$scratch/indirect" "$scratch/indirect.c" \
    $("$pkg_config" --libs inkalloc)
link $CC -static -O2 -o "$scratch/indirect-static" "$scratch/indirect.c" \
    $("$pkg_config" --static --libs inkalloc)
static "$scratch/indirect-static"
for program in indirect indirect-static; do
    LD_LIBRARY_PATH=$libdir INKALLOC_CONF=banner:true "$scratch/$program" 2>"$scratch/banner" >/dev/null ||
        fail "$program fails"
    grep -q '^inkalloc' "$scratch/banner" || fail "$program is not on inkalloc"
    say "$program: $(cat "$scratch/banner")"
done
