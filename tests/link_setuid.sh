#!/bin/bash
# P32: a set-user-ID program takes no options from whoever calls it.

. "${INK_SRCDIR:?}/tests/lib.sh"
need "${CC%% *}"
[ "$(id -u)" = 0 ] || skip "only root can make a program of another user"

cat >"$scratch/secure.c" <<'END'
#include <stdlib.h>
#include <sys/auxv.h>
int main(void)
{
    free(malloc(100));
    return getauxval(AT_SECURE) != 0 ? 42 : 0;
}
END
link $CC -static -O1 -fno-builtin -o "$scratch/secure" "$scratch/secure.c" "$INK_STATIC_LIB"
chmod 755 "$scratch"

# run CONF: sets code; stderr is in $scratch/err.
run() {
    INKALLOC_CONF=$1 "$scratch/secure" 2>"$scratch/err"
    code=$?
}
run banner:true
[ $code = 0 ] && grep -q '^inkalloc' "$scratch/err" || fail "as a plain program: $code, $(cat "$scratch/err")"

chown 65534 "$scratch/secure" && chmod 4755 "$scratch/secure" || skip "cannot give the program away"
run banner:true
[ $code != 0 ] || skip "set-user-ID programs are not honoured here"
[ $code = 42 ] || fail "as a set-user-ID program: $code, $(cat "$scratch/err")"
[ ! -s "$scratch/err" ] || fail "it printed: $(cat "$scratch/err")"
run frobnicate:1
[ ! -s "$scratch/err" ] || fail "it complained: $(cat "$scratch/err")"
