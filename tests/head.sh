#!/bin/bash
# Which head serves: the one that configure was told, by malloc_stats and the banner, and libatomic comes into the process only
# for a wide head that this compiler cannot do itself.
. "${INK_SRCDIR:?}/tests/lib.sh"
need readelf

banner=$(INKALLOC_CONF=banner:true LD_PRELOAD=$INK_LIB /bin/true 2>&1)
[[ $banner == "inkalloc "*", head $INK_HEAD" ]] || fail "configured for head $INK_HEAD; the banner says: $banner"
say "$banner"

needed=$(readelf -d "$INK_LIB" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v -E '^(libc|ld-linux.*|ld64)\.so')
expected=
[ "$INK_HEAD:$INK_WIDE_LIBS" != wide:-latomic ] || expected=libatomic.so.1
[ "$needed" = "$expected" ] || fail "beside libc the library needs '$needed', not '$expected'"
