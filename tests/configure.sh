#!/bin/bash
# configure refuses wrong values and unknown options with one sentence that lists the valid ones.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
errors=0

# refused "sentence" ARGUMENT...: configure ends non-zero, and its whole stderr is the sentence.
refused() {
    local sentence="configure: error: $1"
    shift
    if "$INK_SRCDIR/configure" "$@" >out 2>err; then
        echo "configure $* was accepted"
        errors=$((errors + 1))
    elif [ "$(cat err)" != "$sentence" ]; then
        echo "configure $* said '$(cat err)' instead of '$sentence'"
        errors=$((errors + 1))
    fi
}

heads="the valid values are index, wide and locked."
sanitizers="the valid values are none, address, undefined and thread."
levels="the valid values are no, yes and paranoid."
options="the valid ones are --with-head=index|wide|locked --with-sanitizer=none|address|undefined|thread --enable-debug[=paranoid] and the usual ones that --help lists."

refused "--with-head=narrow is not known; $heads" --with-head=narrow
refused "--with-head=yes is not known; $heads" --with-head
refused "--with-head= is not known; $heads" --with-head=
refused "--with-head=no is not known; $heads" --without-head
refused "--with-sanitizer=memory is not known; $sanitizers" --with-sanitizer=memory
refused "--with-sanitizer=yes is not known; $sanitizers" --with-sanitizer
refused "--enable-debug=2 is not known; $levels" --enable-debug=2
refused "unknown option --with-heads; $options" --with-heads=index
refused "unknown option --enable-profiling; $options" --enable-profiling
refused "unknown option --disable-tls; $options" --prefix=/usr --disable-tls
refused "unknown option --without-libc; $options" --without-libc
refused "unknown option --colour; $options" --colour=blue
refused "unknown option -z; $options" -z

# What is known goes through: --help lists the three switches.
"$INK_SRCDIR/configure" --silent --pref=/usr -C --enable-silent-rules --help >out 2>err || { cat err; errors=$((errors + 1)); }
for switch in --with-head=index --with-sanitizer=none --enable-debug; do
    grep -q -e "$switch" out || { echo "--help does not list $switch"; errors=$((errors + 1)); }
done

# B9: nothing is run while configuring, so a cross compilation guesses nothing from the machine it runs on.
if grep -n -E 'A[CX]_(TRY_RUN|RUN_IFELSE|RUN_LOG)' "$INK_SRCDIR/configure.ac" "$INK_SRCDIR"/m4/ink*.m4; then
    echo "configure runs what it has compiled"
    errors=$((errors + 1))
fi
[ $errors -eq 0 ]
