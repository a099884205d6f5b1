# Shared by the bench scripts: which allocators there are, and the machine's line above a table.
# INK_LIB is the built libinkalloc.so, INK_BUILDDIR the top of the build.

: "${INK_BUILDDIR:=.}"
: "${INK_LIB:=$INK_BUILDDIR/.libs/libinkalloc.so}"

peers="libjemalloc2 libmimalloc2.0 libtcmalloc-minimal4"

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# The library to preload for NAME or NAME=LIBRARY; nothing for the system's malloc.
library_of() {
    case $1 in
    *=*) echo "${1#*=}" ;;
    system) ;;
    inkalloc) echo "$INK_LIB" ;;
    libjemalloc2) echo libjemalloc.so.2 ;;
    libmimalloc2.0) echo libmimalloc.so.2 ;;
    libtcmalloc-minimal4) echo libtcmalloc_minimal.so.4 ;;
    *) fail "unknown allocator $1: give inkalloc, system, ${peers// /, } or NAME=LIBRARY" ;;
    esac
}

# ld.so goes on with libc's malloc where it cannot preload a library, or cannot bind malloc to it.
serves_malloc() {
    local file bindings
    [ -n "$1" ] || return 0
    file=$(LD_PRELOAD=$1 LD_TRACE_LOADED_OBJECTS=1 /bin/true 2>&1 |
        awk -v lib="$1" '$1 == lib { print $2 == "=>" ? $3 : $1 }')
    bindings=$(LD_DEBUG=bindings LD_BIND_NOW=1 LD_PRELOAD=$1 /bin/true 2>&1)
    [[ $bindings = *"file /bin/true [0] to ${file:-nowhere} [0]: normal symbol \`malloc'"* ]]
}

# The allocators of the arguments that can be preloaded, one NAME=LIBRARY a line.  A peer that is
# not installed is left out with a word; anything else that is missing is an error.
resolve() {
    local name lib
    for name in "$@"; do
        lib=$(library_of "$name") || exit 1
        if serves_malloc "$lib"; then
            echo "${name%%=*}=$lib"
        elif [[ " $peers " = *" $name "* ]]; then
            echo "${0##*/}: $name is not installed, left out" >&2
        else
            fail "$lib does not serve malloc when preloaded"
        fi
    done
}

# The machine, the compiler and, where inkalloc is built, its banner with version and head.
machine_line() {
    local cpu banner
    cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    echo "# ${cpu:-$(uname -m)}, $(nproc) CPUs, Linux $(uname -r)," \
        "$(${CC:-cc} --version | head -n 1), $(date +%Y-%m-%d)"
    banner=$(INKALLOC_CONF=banner:true LD_PRELOAD=$INK_LIB /bin/true 2>&1)
    [[ $banner != inkalloc\ * ]] || echo "# $banner"
}
