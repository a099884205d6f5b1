# Shared by the shell tests: a clean environment, a scratch directory, and the comparison of work
# under the system's malloc with the same work under inkalloc. Sourced by bash, never run.

set -u

say() {
    printf '%s\n' "$*"
}

fail() {
    say "FAIL: $*"
    exit 1
}

skip() {
    say "SKIP: $*"
    exit 77
}

# need PROGRAM|FILE...: a missing one hides a test: that may happen on somebody's laptop, not in CI.
need() {
    local program
    for program; do
        if command -v "$program" >/dev/null || [ -f "$program" ]; then
            continue
        elif [ -n "${CI:-}" ]; then
            fail "$program is not installed (./bootstrap packages installs what is needed)"
        else
            skip "$program is not installed"
        fi
    done
}

# Sets compilers to those of gcc and clang that are here: one is enough, but in CI both have to be.
find_compilers() {
    local compiler
    compilers=
    for compiler in gcc clang; do
        if [ -n "${CI:-}" ] || command -v $compiler >/dev/null; then
            need $compiler
            compilers="$compilers $compiler"
        fi
    done
    [ -n "$compilers" ] || skip "neither gcc nor clang is installed"
}

preloaded() {
    export LD_PRELOAD=$INK_LIB
    "$@"
}

fresh_work() {
    rm -rf "$scratch/work"
    mkdir "$scratch/work"
}

# run_as system|inkalloc COMMAND...: in an empty directory that has the same name in both settings,
# so that messages with paths can be compared. Leaves $scratch/SETTING.{code,out,err,ms}.
run_as() {
    local setting=$1 start=${EPOCHREALTIME/./}
    shift
    fresh_work
    (
        cd "$scratch/work" || exit 1
        if [ "$setting" = inkalloc ]; then
            preloaded "$@"
        else
            "$@"
        fi
    ) >"$scratch/$setting.out" 2>"$scratch/$setting.err" </dev/null
    echo $? >"$scratch/$setting.code"
    echo $(((${EPOCHREALTIME/./} - start) / 1000)) >"$scratch/$setting.ms"
}

# compare CODE COMMAND...: the exit code must be CODE in both settings, stdout and stderr the same.
# COMMAND is mostly a shell function; every program it starts inherits the preload.
compare() {
    local expected=$1 part bad=0
    shift
    run_as system "$@"
    run_as inkalloc "$@"
    say "$*: $(cat "$scratch/system.ms") ms under the system's malloc," \
        "$(cat "$scratch/inkalloc.ms") ms under inkalloc"
    if [ "$(cat "$scratch/system.code")" != "$expected" ] || [ ! -s "$scratch/system.out" ]; then
        tail -n 20 "$scratch/system.out" "$scratch/system.err"
        fail "$* does not work under the system's malloc: exit code" \
            "$(cat "$scratch/system.code"), expected $expected"
    fi
    for part in code out err; do
        cmp -s "$scratch/system.$part" "$scratch/inkalloc.$part" && continue
        say "$*: $part differs (- system, + inkalloc):"
        diff -u "$scratch/system.$part" "$scratch/inkalloc.$part" | head -n 40
        bad=1
    done
    [ $bad = 0 ] || fail "$* differs under inkalloc"
}

# serve SOCKET COMMAND...: starts a server and waits until it listens on SOCKET, a path: there is no port that
# somebody else could have. It ends with the shell that started it: by the trap, or, when that shell
# is killed, by the kernel. Sets $server.
serve() {
    local socket=$1 tenth
    shift
    setpriv --pdeathsig TERM "$@" &
    server=$!
    trap 'kill $server 2>/dev/null; wait $server' EXIT
    for ((tenth = 0; tenth < 600; tenth++)); do
        python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$socket" \
            2>/dev/null && return
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    say "no answer from $1"
    exit 1
}

# served_well: asks the server to end; it must do so with 0.
served_well() {
    local code
    kill "$server"
    wait "$server"
    code=$?
    trap - EXIT
    say "the server ended with $code"
    [ $code = 0 ]
}

# bound BINARY LIBRARY COMMAND...: the loader binds the malloc functions of BINARY (a program's
# name as it was called) to LIBRARY, and nobody's in the processes of COMMAND to another file.
bound() {
    local binary=$1 library=$2 family='(malloc|calloc|realloc|free|_Znwm|_ZdlPv)'
    shift 2
    rm -f "$scratch"/bindings.*
    (
        cd "$scratch/work" || exit 1
        export LD_DEBUG=bindings LD_DEBUG_OUTPUT=$scratch/bindings
        "$@"
    ) >"$scratch/bound.out" 2>"$scratch/bound.err" </dev/null
    # Of processes that share a file, two lines may stand in one.
    sed 's/binding file/\n&/g' "$scratch"/bindings.* | grep -E "symbol .$family'" >"$scratch/bound"
    grep -E "binding file ([^ ]*/)?$binary \[0\]" "$scratch/bound" | grep -qF " to $library [0]:" ||
        fail "no malloc function of $binary is bound to $library"
    # A program that is not position independent may also show its own jump to ours.
    if grep -E " to [^ ]*/(libc|libstdc\+\+|libjemalloc|ld-)[^ /]* \[0\]:" "$scratch/bound"; then
        fail "malloc functions are bound to another library"
    fi
}

# prove BINARY COMMAND...: under the preload BINARY's malloc is ours, and inkalloc says so itself.
prove() {
    local binary=$1
    shift
    fresh_work
    INKALLOC_CONF=banner:true bound "$binary" "$INK_LIB" preloaded "$@"
    grep -q '^inkalloc' "$scratch/bound.err" || fail "$1 printed no banner under the preload"
}

# text LINES: as many lines of six numbers and words each, the same ones every time.
text() {
    awk -v lines="$1" 'BEGIN {
        seed = 42
        for (i = 0; i < lines; i++) {
            line = ""
            for (j = 0; j < 6; j++) {
                seed = (seed * 16807) % 2147483647
                line = line (j % 2 ? sprintf("%c%c%d", 97 + seed % 26, 97 + seed % 7, seed % 997) \
                                   : seed % 100000) " "
            }
            print line
        }
    }'
}

: "${INK_LIB:?is set by make check}" "${INK_SRCDIR:?}" "${INK_BUILDDIR:?}"
[ "${INK_SANITIZER:-none}" = none ] || skip "a sanitizer's runtime owns malloc in this build"
[ "${INK_HOST_IS_BUILD:-yes}" = yes ] || skip "cross compiled: programs of this machine cannot load it"

# Debian's programs, no user's settings, nothing of the make that runs the test. Some servers have
# been unpacked by bootstrap and are not installed.
servers=$INK_SRCDIR/build/servers/usr
export PATH=$servers/sbin:$servers/bin:/usr/bin:/bin:/usr/sbin LC_ALL=C TZ=UTC
unset LD_PRELOAD INKALLOC_CONF MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES MAKEFILES
unset CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LIBS BASH_ENV ENV PYTHONHOME PYTHONPATH PERL5LIB PERL5OPT
unset RUBYOPT RUBYLIB LUA_INIT LUA_INIT_5_4 NODE_OPTIONS NODE_PATH PHPRC PHP_INI_SCAN_DIR JAVA_HOME JAVA_TOOL_OPTIONS
unset JDK_JAVA_OPTIONS _JAVA_OPTIONS VALGRIND_OPTS REDISCLI_AUTH

scratch=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
export HOME=$scratch

# install_tree: make install into $scratch/root; sets root, libdir and includedir.
install_tree() {
    local file
    root=$scratch/root
    need make
    make -C "$INK_BUILDDIR" install DESTDIR="$root" >"$scratch/install" 2>&1 ||
        fail "make install: $(tail -n 20 "$scratch/install")"
    file=$(find "$root" -name libinkalloc.so)
    libdir=${file%/*}
    file=$(find "$root" -name inkalloc.h)
    includedir=${file%/*}
    [ -n "$libdir" ] && [ -n "$includedir" ] || fail "make install installed no library or no header"
}

# link COMMAND...: a compiler command that must succeed and say nothing at all.
link() {
    "$@" >"$scratch/link" 2>&1 || fail "$* fails: $(cat "$scratch/link")"
    [ ! -s "$scratch/link" ] || fail "$* says: $(cat "$scratch/link")"
}

# served PROGRAM: it runs to its end, and both inkalloc_version and malloc_stats name inkalloc.
served() {
    LD_LIBRARY_PATH=$libdir "$1" >"$scratch/served.out" 2>"$scratch/served.err" ||
        fail "$1 ends with $?: $(head -n 5 "$scratch/served.err")"
    grep -q '^served by [0-9]' "$scratch/served.out" || fail "$1 printed $(cat "$scratch/served.out")"
    head -n 1 "$scratch/served.err" | grep -q '^inkalloc [0-9]' ||
        fail "malloc_stats of $1 begins with: $(head -n 1 "$scratch/served.err")"
    say "${1##*/}: $(cat "$scratch/served.out"); $(head -n 1 "$scratch/served.err")"
}

# static PROGRAM: it needs no loader, and nothing of libc's malloc was linked in beside ours.
static() {
    ! readelf -d "$1" 2>/dev/null | grep NEEDED || fail "$1 is not static"
    ! nm "$1" | grep -w -E '_int_malloc|_int_free|main_arena' || fail "$1 has libc's malloc in it too"
}
