#!/bin/bash
# R65: configure finds how this compiler does a double-width compare-and-swap, for gcc and clang, whatever -mcx16 or -mno-cx16
# stands in CFLAGS, with libatomic and without; every flag is left as it was given; and a wide head that cannot be linked is
# refused in one sentence.
. "${INK_SRCDIR:?}/tests/lib.sh"
[ "$(uname -m)" = x86_64 ] && [ "$INK_HOST_IS_BUILD" = yes ] || skip "the answers are known for x86-64 alone"
find_compilers

# without_libatomic COMPILER: prints the name of one that cannot link libatomic.
without_libatomic() {
    local program=$scratch/$1-without
    cat >"$program" <<END
#!/bin/sh
case " \$* " in *' -latomic '*) echo "no libatomic" >&2; exit 1 ;; esac
exec $1 "\$@"
END
    chmod +x "$program"
    echo "$program"
}

# probe EXPECTED ARGUMENT...: configures with these arguments, knowing from an earlier run of this compiler all but what is probed;
# the report must name the expected way, and CFLAGS and LIBS
# must have come through the probe unchanged.
probe() {
    local expected=$1 way given='-g -O2' argument
    shift
    for argument; do
        [[ $argument != CFLAGS=* ]] || given=${argument#CFLAGS=}
    done
    rm -rf "$scratch/probe"
    mkdir "$scratch/probe" && cd "$scratch/probe" || exit 1
    [ ! -f "$scratch/$compiler.cache" ] || grep -v -e '^ac_cv_env_' -e '^ac_cv_prog_' -e '^ink_cv_wide_cas' "$scratch/$compiler.cache" >known
    "$INK_SRCDIR/configure" --cache-file=known "$@" >out 2>&1 || fail "configure $* fails: $(tail -n 3 out)"
    way=$(sed -n 's/^  double-width CAS //p' out)
    [ "$way" = "$expected" ] || fail "configure $*: double-width CAS is '$way', not '$expected'"
    grep -qx "CFLAGS = $given" Makefile || fail "configure $*: $(grep '^CFLAGS =' Makefile), given was '$given'"
    ! grep '^LIBS = ' Makefile | grep -q atomic || fail "configure $*: libatomic is in LIBS"
    [ -f "$scratch/$compiler.cache" ] || cp known "$scratch/$compiler.cache"
    say "$* : $way"
}

for compiler in $compilers; do
    crippled=$(without_libatomic $compiler) || exit 1
    probe 'inline -mcx16' CC=$compiler CFLAGS=-O2
    probe inline CC=$compiler CFLAGS='-O1 -mcx16'
    probe libatomic CC=$compiler CFLAGS='-O2 -mno-cx16'
    probe none CC="$crippled" CFLAGS='-O2 -mno-cx16'
    if "$INK_SRCDIR/configure" -q --cache-file=known --with-head=wide CC="$crippled" CFLAGS='-O2 -mno-cx16' >out 2>&1; then
        fail "a wide head is accepted that cannot be linked"
    fi
    sentence="configure: error: --with-head=wide needs a double-width compare-and-swap, which $crippled cannot link here, not even with -latomic; take index or locked."
    [ "$(tail -n 1 out)" = "$sentence" ] || fail "configure said '$(tail -n 1 out)'"
done
