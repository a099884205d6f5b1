#!/bin/bash
# Runs a program that misuses malloc, under inkalloc, and asserts how it dies: die-check.sh PROGRAM
# It must end by SIGABRT with exactly one line on stderr, the one in the first line of its source,
#   /* expect: inkalloc: double free in free(PTR) */
# where PTR stands for the pointer it has printed on stdout as "ptr 0x...".
fail() {
    echo "$name: $1"
    exit 1
}

name=$(basename "$1")
source=$INK_SRCDIR/tests/$name.c
expected=$(sed -n '1s|^/\* expect: \(.*\) \*/$|\1|p' "$source")
[ -n "$expected" ] || fail "the first line of $source is not /* expect: ... */"

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
ulimit -c 0
# The subshell keeps the shell's own "Aborted" message out of the program's stderr.
(bash "$(dirname "$0")/under-inkalloc.sh" "$@" >"$dir/out" 2>"$dir/err") 2>"$dir/shell"
status=$?
[ $status -eq 77 ] && { cat "$dir/out"; exit 77; }

pointer=$(sed -n 's/^ptr \(0x[0-9a-f]*\)$/\1/p' "$dir/out")
[ -n "$pointer" ] && expected=${expected//PTR/$pointer}
case $expected in *PTR*) fail "it printed no line 'ptr 0x...' before it died" ;; esac

got=$(cat "$dir/err")
[ $status -eq $((128 + 6)) ] || fail "ended with status $status instead of SIGABRT; stderr: $got"
[ "$got" = "$expected" ] || fail "said '$got' instead of '$expected'"
