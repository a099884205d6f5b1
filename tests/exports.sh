#!/bin/bash
# Holds what was built against what is promised: the exported names against src/inkalloc.map in both
# directions, the marks in the ELF headers, and the static library against the malloc.o of libc.a.
if [ "$INK_SANITIZER" != none ]; then
    echo "skipped: a sanitizer adds names and libraries of its own"
    exit 77
fi
shopt -s lastpipe # or what complains at the end of a pipe is not counted
errors=0
complain() {
    echo "$1"
    errors=$((errors + 1))
}
# absent WHAT REGEX <text: no line of the text may match.
absent() {
    local found
    found=$(grep -E "$2" | head -n 3)
    [ -z "$found" ] || complain "$1: $found"
}
# present WHAT REGEX <text: some line must match.
present() {
    grep -q -E "$2" || complain "$1 is missing"
}

dynamic=$($READELF -dW "$INK_LIB") || exit 1
headers=$($READELF -hlW "$INK_LIB") || exit 1
relocations=$($READELF -rW "$INK_LIB") || exit 1

# ---- names: A21, A22 (the whole family), A23 (glibc's own names), B7 (and nothing else) ------------
# The list holds the C++ names for both widths of size_t and glibc's names; take those of this target.
case $headers in *ELF64*) other=j ;; *) other=m ;; esac
listed=$(sed -n '/global:/,/local:/s/^ *\([A-Za-z_0-9]*\);$/\1/p' "$INK_SRCDIR/src/inkalloc.map" |
    grep -v -E "^_Z(n[wa]$other|d[la]Pv$other)")
case $dynamic in
*'[libc.so.6]'*) ;;
*) listed=$(grep -v -E '^__(libc_|posix_)' <<<"$listed") ;;
esac
exported=$($NM -D --defined-only "$INK_LIB" | awk '{ print $3 }')
[ "$(wc -l <<<"$listed")" -gt 40 ] || complain "src/inkalloc.map could not be read"
difference=$(diff <(sort <<<"$listed") <(sort <<<"$exported") | grep '^[<>]')
[ -z "$difference" ] || complain "listed but not exported (<), exported but not listed (>):"$'\n'"$difference"
grep -n -E '^[A-Za-z_].*\{' "$INK_SRCDIR/src/inkalloc.map" | absent "the version node has a name" .
for name in reallocarray strdup strndup; do
    absent "exported against the rule" "^$name\$" <<<"$exported"
done

# ---- marks -------------------------------------------------------------------------------------
grep NEEDED <<<"$dynamic" | grep -v -E '\[libc\.(so\.6|so|musl-.*)\]' | absent "depends on more than libc" .
present "BIND_NOW" 'FLAGS.*(BIND_NOW|NOW)' <<<"$dynamic"
present "NODELETE" 'FLAGS.*NODELETE' <<<"$dynamic"
absent "text relocations" 'TEXTREL' <<<"$dynamic"
present "RELRO" 'GNU_RELRO' <<<"$headers"
present "a non-executable stack" 'GNU_STACK.* RW ' <<<"$headers"
absent "an executable stack" 'GNU_STACK.*E' <<<"$headers"
absent "a segment both writable and executable" 'LOAD.* RWE ' <<<"$headers"
# P11: dynamic TLS is allocated with malloc; only initial-exec may be used in it.  P10: and of that, two words: dlopen finds room for no more.
present "initial-exec TLS" 'TPOFF|TPREL' <<<"$relocations"
absent "dynamic TLS" 'DTPMOD|DTPREL|DTPOFF|TLSDESC' <<<"$relocations"
$NM -D --undefined-only "$INK_LIB" | absent "dynamic TLS" '__tls_get_addr'
tls=$(awk '$1 == "TLS" { print $6 }' <<<"$headers")
word=8
[ "$other" = j ] || word=4
[ $((tls)) -gt 0 ] && [ $((tls)) -le $((2 * word)) ] || complain "thread-local storage of $((tls)) bytes, not of two words"

# ---- what it calls -------------------------------------------------------------------------------
# P1, P2: system calls go past the wrappers that others interpose; P3: no name is looked up on the way to memory (the weak dl* serve
# operator new without memory); P5, P9, P22: nothing that locks or allocates in libc; O17, O18, P36: no random numbers, no files, no
# processors, no limits, no signals, no threads.
calls='__errno_location|bcmp|___errno_location|abort|syscall|getauxval|getenv|secure_getenv|mem(chr|cmp|cpy|move|set)|str(len|cspn|chr|cmp)'
calls+='|pthread_(key_create|key_delete|setspecific|self|atfork)|__register_atfork|f?printf|snprintf|__(f|sn)printf_chk|__mem(cpy|set|move)_chk'
calls+='|__stack_chk_(fail|guard)'
$NM -D --undefined-only "$INK_LIB" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | grep -v -x -E "$calls" |
    absent "it calls what it should not" .

$NM -A --undefined-only "$INK_STATIC_LIB" | grep -v ':purger\.o:' | absent "a thread is started elsewhere" ' [Uw] pthread_(create|detach)$'
$NM -A --undefined-only "$INK_STATIC_LIB" | absent "threads must stay weak" ' U pthread_(create|detach)$'

# B8: only what every processor of the architecture has, unless whoever built it asked for more.
case "$CC $(grep '^C\(PP\)*FLAGS = ' "$INK_BUILDDIR/Makefile") $headers" in
*-march* | *-mcpu* | *-mtune=native*) ;;
*X86-64*)
    [ "$INK_HEAD" = wide ] || $OBJDUMP -d "$INK_LIB" | absent "instructions that only the wide head may use" 'cmpxchg16b'
    $OBJDUMP -d "$INK_LIB" | absent "instructions beyond the baseline" '%[yz]mm|\s(popcnt|andn|[rs]h[lr]x|mulx)\s'
    ;;
esac

# ---- the static library: B5 --------------------------------------------------------------------
family='malloc|free|calloc|realloc|posix_memalign|aligned_alloc|memalign|valloc|pvalloc|strdup|strndup'
# A34: internal calls never go through public names.
$NM -A --undefined-only "$INK_STATIC_LIB" | grep -v -E ':(malloc|operators)\.o:' |
    absent "the core calls what it implements" " U ($family)\$"
# B1: gcc and clang turn malloc + memset into a call to calloc, which is endless inside calloc.
$OBJDUMP -d --disassemble=calloc "$INK_LIB" | absent "calloc calls itself" '\s(call|jmp|b|bl|jal|j)\s.*<(__libc_)?calloc(@plt)?>'

archive=$($NM -A --defined-only -g "$INK_STATIC_LIB" | sed -n 's/^[^:]*:\([^:]*\):.* [TWDB] \(.*\)$/\2 \1/p')
for name in $listed; do
    [ "$(grep -c "^$name " <<<"$archive")" -eq 1 ] || complain "$name is not defined exactly once in $INK_STATIC_LIB"
done

libc=$($CC $CFLAGS -print-file-name=libc.a)
if [ -f "$libc" ]; then
    theirs=$($NM -g --defined-only "$libc" 2>/dev/null |
        awk '/^malloc\.o:$/ { on = 1; next } /:$/ { on = 0 } on && NF == 3 { print $3 }')
    [ -n "$theirs" ] || complain "no malloc.o was found in $libc"
    public=$(grep -E '^([a-z]|__libc_)' <<<"$theirs" | grep -v -x __libc_mallinfo2)
    objects=$(for name in $public; do
        grep "^$name " <<<"$archive" || echo "$name (missing)"
    done | awk '{ print $2 }' | sort | uniq -c)
    [ "$(wc -l <<<"$objects")" -eq 1 ] ||
        complain "the public names of libc.a's malloc.o must come from one object, or a static link has them twice:"$'\n'"$objects"
else
    echo "no libc.a here: the static library was not compared with it"
fi

echo "$(wc -l <<<"$exported") names exported, $errors errors"
[ $errors -eq 0 ]
