#!/bin/bash
# Builds glibc's malloc tests outside glibc, against the installed C library: build.sh DIRECTORY
# Debian's package glibc-source has the sources.  They are unpacked in DIRECTORY and stay there; the programs
# of the table beside this script end up in DIRECTORY/bin.  What is up to date is not built again.
set -u -o pipefail

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?names a directory to build in}" && cd "$1" || exit 1
packed=$(ls /usr/src/glibc/glibc-*.tar.xz | tail -n 1)
[ -f "$packed" ] || exit 1

# What the programs use of glibc's library for tests.
support='check ignore_stderr oom_error support-xstat support_capture_subprocess support_copy_file
    support_copy_file_range support_paths support_quote_blob support_record_failure support_shared_allocate
    support_subprocess support_test_compare_blob support_test_compare_failure support_test_main
    support_test_verify_impl temp_file write_message xasprintf xcalloc xchdir xclose xdup2 xfclose xfopen
    xfork xmalloc xmemstream xmmap xmunmap xopen xpipe xpoll xposix_spawn xposix_spawn_file_actions_addclose
    xposix_spawn_file_actions_adddup2 xpthread_barrier_destroy xpthread_barrier_init xpthread_barrier_wait
    xpthread_barrierattr_destroy xpthread_barrierattr_init xpthread_barrierattr_setpshared
    xpthread_check_return xpthread_create xpthread_join xpthread_kill xsignal xsysconf xwaitpid'

# glibc's headers that stand for themselves; the others are empty here: internal.h has what is needed of them.
headers='include/libc-diag.h include/array_length.h include/scratch_buffer.h include/alloc_buffer.h
    include/libc-pointer-arith.h include/intprops.h sysdeps/generic/malloc-size.h
    sysdeps/generic/malloc-alignment.h'
empty_headers='libc-config.h libc-symbols.h shlib-compat.h'

unpack() {
    rm -rf glibc
    mkdir -p glibc/headers
    # shellcheck disable=SC2086
    tar -xJf "$packed" -C glibc --strip-components=1 --wildcards --no-wildcards-match-slash \
        'glibc-*/malloc' 'glibc-*/support' 'glibc-*/test-skeleton.c' \
        $(printf 'glibc-*/%s ' $headers) || return
    for header in $headers; do
        ln -s "../$header" glibc/headers/
    done
    for header in $empty_headers; do
        : >"glibc/headers/$header"
    done
}

# Each iteration of these sends five signals whose handlers fork: ten whole runs take minutes.
shorten() {
    local name
    for name in tst-mallocfork2 tst-mallocfork3; do
        sed 's/iterations = 10000/iterations = 1000/' "glibc/malloc/$name.c" >"glibc/malloc/tenth-$name.c"
        ! cmp -s "glibc/malloc/$name.c" "glibc/malloc/tenth-$name.c" || return
    done
}

# The oldest symbol version of this machine's glibc.
first_version() {
    objdump -T "$(${CC:-cc} -print-file-name=libc.so.6)" | awk '$NF == "malloc" { print $(NF - 1) }'
}

# Paths of a glibc build tree, none of which a test of malloc looks into.
path_macros() {
    sed -n 's/^#ifdef \([A-Z_]*\)$/-D\1="\/tmp"/p' glibc/support/support_paths.c
}

# compile ARGUMENT...: the sources must call what they name, hence no built-in functions; z,now spares their
# many children the look-up of every function.
compile() {
    ${CC:-cc} -std=gnu11 -O2 -w -pthread -fgnu89-inline -fno-builtin -D_GNU_SOURCE -DTEST_NO_MALLOPT \
        -DINK_GLIBC_FIRST_VERSION="\"$version\"" -include "$here/internal.h" -Iglibc -Iglibc/support -Iglibc/headers \
        -Wl,-z,now "$@"
}

compile_support() {
    compile -DSUPPORT_PATHS $(path_macros) -c "glibc/support/$1.c" -o "objects/$1.o"
}

# compile_program NAME [SOURCE...]: patterns among the sources are resolved here.
compile_program() {
    local name=$1
    shift
    # shellcheck disable=SC2046
    compile $(printf 'glibc/malloc/%s ' "${@:-$name.c}") -o "bin/$name" libsupport.a
}

# each COMMAND: runs it with the words of every line read, as many at once as there are processors.
each() {
    xargs -P "$(nproc)" -L 1 bash -c "$1 \"\$@\"" _
}

build() {
    unpack && shorten || return
    rm -rf bin objects
    mkdir bin objects
    version=$(first_version)
    export version here
    export -f compile compile_support compile_program path_macros
    tr -s ' ' '\n' <<<"$support" | each compile_support && ar rcs libsupport.a objects/*.o &&
        sed '/^#/d; s/^. *//' "$here/programs" | each compile_program
}

# Two tests may be here at once.
exec 9>lock
flock 9
newest=$(ls -t "$here/programs" "$here/internal.h" "$here/build.sh" "$packed" built 2>/dev/null | head -n 1)
[ "$newest" = built ] && exit
rm -f built
build && touch built
