#!/bin/bash
# Under LD_PRELOAD every malloc is ours: the loader's own list of bindings (LD_DEBUG=bindings) shows the
# program, the C library and the C++ library bound to libinkalloc for each name that we export, also
# where the program asks for malloc@GLIBC_2.2.5; and the program finds inkalloc by itself.
if [ "$INK_SANITIZER" != none ] || [ "$INK_HOST_IS_BUILD" != yes ]; then
    echo "skipped: nothing can be preloaded into this build"
    exit 77
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
errors=0
complain() {
    echo "$1"
    errors=$((errors + 1))
}

cat >program.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    void *p = calloc(3, 5);
    p = realloc(p, 100);
    char *s = strdup("kept"); /* libc's own, which calls malloc */
    Dl_info info;
    void *version = dlsym(RTLD_DEFAULT, "inkalloc_version");
    if (dladdr((void *)malloc, &info) == 0 || p == NULL || s == NULL)
        return 1;
    free(p);
    free(s);
    printf("%s %s\n", version ? "inkalloc" : "other", info.dli_fname);
    fflush(stdout);
    malloc_stats();
    return 0;
}
C
$CC -O0 -fno-builtin -o program program.c || exit 1

# ---- the control: without the preload the program says so -----------------------------------------
./program 2>stats | grep -q '^other .*libc' || complain "the control program claims to be on inkalloc"
grep -q inkalloc stats && complain "libc's malloc_stats names inkalloc"

# ---- the program sees it ---------------------------------------------------------------------------
LD_PRELOAD=$INK_LIB ./program >out 2>stats || complain "the program fails under inkalloc"
grep -q '^inkalloc .*libinkalloc' out || complain "the program's malloc is in: $(cat out)"
head -n 1 stats | grep -q inkalloc || complain "malloc_stats does not begin with a line that names inkalloc: $(head -n 1 stats)"
INKALLOC_CONF=banner:true LD_PRELOAD=$INK_LIB /bin/true 2>banner
[ "$(wc -l <banner)" -eq 1 ] && grep -q inkalloc banner || complain "banner:true printed: $(cat banner)"

# ---- the loader's bindings ---------------------------------------------------------------------------
names=$(sed -n '/global:/,/local:/s/^ *\([A-Za-z_0-9]*\);$/\1/p' "$INK_SRCDIR/src/inkalloc.map")
pattern=$(tr '\n' '|' <<<"$names" | sed 's/|$//')
# bindings COMMAND...: "from to name version" for each of our names.
bindings() {
    LD_DEBUG=bindings LD_DEBUG_OUTPUT=$dir/bindings LD_BIND_NOW=1 LD_PRELOAD=$INK_LIB "$@" >/dev/null 2>&1 ||
        complain "$* fails under inkalloc"
    sed -n -E "s/.*binding file ([^ ]+) \[[0-9]+\] to ([^ ]+) \[[0-9]+\]: normal symbol \`($pattern)'( \[(.*)\])?\$/\1 \2 \3 \5/p" "$dir"/bindings.*
    rm -f "$dir"/bindings.*
}
# all_ours COMMAND...: none of them goes anywhere else, and malloc is among them.
all_ours() {
    local list wrong
    list=$(bindings "$@")
    wrong=$(awk '$2 !~ /libinkalloc/' <<<"$list")
    [ -z "$wrong" ] || complain "$*: bound elsewhere:"$'\n'"$wrong"
    grep -q -E "libinkalloc[^ ]* malloc" <<<"$list" || complain "$*: no malloc is bound to inkalloc"
    grep -q -E "^[^ ]*libc\.so[^ ]* [^ ]*libinkalloc[^ ]* malloc" <<<"$list" || complain "$*: libc's own malloc calls are not ours"
}
all_ours ./program
all_ours bash -c 'a=1'
all_ours sort /dev/null

# glibc on x86_64 gives malloc the version GLIBC_2.2.5; other machines have another first version.
version=$($NM -D program | sed -n 's/.* U malloc@\(.*\)$/\1/p')
[ -n "$version" ] || echo "this C library has no symbol versions"
[ -z "$version" ] || bindings ./program | grep -q -E "^./program [^ ]*libinkalloc[^ ]* malloc $version\$" ||
    complain "malloc@$version of the program is not bound to inkalloc"
[ "$(uname -m)" != x86_64 ] || [ "$version" = GLIBC_2.2.5 ] || [ -z "$version" ] || complain "the program asks for malloc@$version"

[ $errors -eq 0 ]
