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

# ld.so only complains about what it cannot preload, and the program goes on with libc's malloc.
can_preload() {
	[ -z "$1" ] || [ -z "$(LD_PRELOAD=$1 /bin/true 2>&1)" ]
}

# The allocators of the arguments that can be preloaded, one NAME=LIBRARY a line.  A peer that is
# not installed is left out with a word; anything else that is missing is an error.
resolve() {
	local name lib
	for name in "$@"; do
		lib=$(library_of "$name") || exit 1
		if can_preload "$lib"; then
			echo "${name%%=*}=$lib"
		elif [[ " $peers " = *" $name "* ]]; then
			echo "${0##*/}: $name is not installed, left out" >&2
		else
			fail "cannot preload $lib"
		fi
	done
}

machine_line() {
	local cpu head
	cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
	head=$(strings -a "$INK_LIB" 2>/dev/null | sed -n 's/^inkalloc .*head \([a-z]*\).*/\1/p' | head -n 1)
	echo "# ${cpu:-$(uname -m)}, $(nproc) CPUs, Linux $(uname -r), $(${CC:-cc} --version | head -n 1)," \
		"head ${head:-unknown}, $(date +%Y-%m-%d)"
}
