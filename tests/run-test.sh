#!/bin/bash
# Runs one compiled test the way its name asks for: run-test.sh PROGRAM
here=$(dirname "$0")
case $(basename "$1") in
test_* | *_core | race_heads_* | race_steal*) exec "$@" ;;
die_*) exec bash "$here/die-check.sh" "$@" ;;
*) exec bash "$here/under-inkalloc.sh" "$@" ;;
esac
