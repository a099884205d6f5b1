#!/bin/bash
# What a preloaded shell starts: children of 64 and of 32 bits, with the library's directory written as $LIB; children that
# cannot or must not be preloaded (static, set-user-ID, with an empty environment), which must run as ever.

. "${INK_SRCDIR:?}/tests/lib.sh"
need gcc i686-linux-gnu-gcc readelf setpriv passwd
loader32=/usr/i686-linux-gnu/lib/ld-linux.so.2
need $loader32

# 32-bit programs run on a kernel that has been built for it, or in qemu; both with the loader of the cross C library.
emulator=()
if ! $loader32 --version >/dev/null 2>&1; then
    need qemu-i386
    emulator=(qemu-i386)
fi
run32=("${emulator[@]}" $loader32 --library-path "${loader32%/*}")

for kind in '' -static; do
    gcc -O2 -Wall -Wextra $kind -o "$scratch/probe64$kind" "$INK_SRCDIR/tests/children_probe.c" &&
        i686-linux-gnu-gcc -O2 -Wall -Wextra $kind -o "$scratch/probe32$kind" "$INK_SRCDIR/tests/children_probe.c" ||
        fail "the probes do not build"
done

# What the loaders of both take $LIB for.
loader64=$(readelf -l "$scratch/probe64" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
lib64=$("$loader64" --list-diagnostics | sed -n 's/^dl_dst_lib="\(.*\)"$/\1/p')
lib32=$("${emulator[@]}" $loader32 --list-diagnostics | sed -n 's/^dl_dst_lib="\(.*\)"$/\1/p')
[ -n "$lib64" ] && [ -n "$lib32" ] && [ "$lib64" != "$lib32" ] || fail "the loaders take \$LIB for '$lib64' and '$lib32'"
chmod 711 "$scratch"
mkdir -p "$scratch/ink/$lib64" "$scratch/ink/$lib32"
cp "$INK_LIB" "$scratch/ink/$lib64/libinkalloc.so"
i686-linux-gnu-gcc -O2 $(sed -n 's/^INK_LIB_CFLAGS = //p' "$INK_BUILDDIR/Makefile") -include config.h -I "$INK_BUILDDIR" \
    -I "$INK_SRCDIR/src" -I "$INK_SRCDIR/include" -fPIC -shared -Wl,-z,now,-z,defs \
    -Wl,--version-script="$INK_SRCDIR/src/inkalloc.map" -o "$scratch/ink/$lib32/libinkalloc.so" "$INK_SRCDIR"/src/*.c ||
    fail "no 32-bit library can be built"

# starts NAME OUT COMMAND...: a preloaded shell starts COMMAND, which prints OUT, nothing on stderr, and ends with 5.
# If $complaint is set, the loader says on stderr that it ignores the preload, for this reason, and nothing else is said.
complaint=
starts() {
    local name=$1 out=$2
    shift 2
    run_as inkalloc bash -c '"$@"; exit $?' bash "$@"
    say "$name: $(cat "$scratch/inkalloc.out") ($(cat "$scratch/inkalloc.code"))"
    [ "$(cat "$scratch/inkalloc.code")" = 5 ] && [ "$(cat "$scratch/inkalloc.out")" = "$out" ] ||
        fail "$name: expected $out (5); stderr: $(head -n 5 "$scratch/inkalloc.err")"
    if [ -n "$complaint" ]; then
        grep -q "^ERROR: ld.so: object .* from LD_PRELOAD cannot be preloaded ($complaint.*): ignored.\$" "$scratch/inkalloc.err" ||
            fail "$name: the loader was expected to say '$complaint'"
        sed -i '1d' "$scratch/inkalloc.err"
    fi
    [ ! -s "$scratch/inkalloc.err" ] || fail "$name says on stderr: $(head -n 5 "$scratch/inkalloc.err")"
}

probe64=$scratch/probe64
ours='64 bits, malloc of inkalloc, x'
theirs='64 bits, malloc of the system, x'
starts 'preloaded by its path' "$ours" "$probe64" x
starts 'static' "$theirs" "$probe64-static" x
starts 'with an empty environment' "$theirs" env -i "$probe64" x
starts 'without the preload' "$theirs" env -u LD_PRELOAD "$probe64" x
complaint='wrong ELF class' starts '32 bits, but the library has 64' '32 bits, malloc of the system, x' \
    "${run32[@]}" "$scratch/probe32" x

INK_LIB=$scratch/ink/'$LIB'/libinkalloc.so
starts 'preloaded from $LIB' "$ours" "$probe64" x
starts '32 bits, preloaded from $LIB' '32 bits, malloc of inkalloc, x' "${run32[@]}" "$scratch/probe32" x
starts '32 bits, static' '32 bits, malloc of the system, x' "${emulator[@]}" "$scratch/probe32-static" x
rm "$scratch/ink/$lib32/libinkalloc.so"
complaint='cannot open shared object file' starts '32 bits, nothing there in $LIB' '32 bits, malloc of the system, x' \
    "${run32[@]}" "$scratch/probe32" x
starts 'preloaded from $LIB, still' "$ours" "$probe64" x

# The loader leaves set-user-ID programs alone, without a word: one of ours, which needs root, and one of the system's.
as_user=()
if [ "$(id -u)" = 0 ]; then
    cp "$probe64" "$scratch/set_user_id"
    chown nobody "$scratch/set_user_id"
    chmod 4755 "$scratch/set_user_id"
    starts 'set-user-ID' '64 bits, malloc of the system, secure, x' "$scratch/set_user_id" x
    as_user=(setpriv --reuid nobody --regid nogroup --clear-groups)
fi
[ -u "$(command -v passwd)" ] || fail "passwd is not set-user-ID"
compare 0 "${as_user[@]}" bash -c 'passwd -S; exit $?'

# And it is the library in $LIB that serves.
bound probe64 "$scratch/ink/$lib64/libinkalloc.so" preloaded bash -c '"$1"; exit $?' bash "$probe64"
