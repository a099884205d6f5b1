#!/bin/bash
# Runs a program with the built libinkalloc.so preloaded: under-inkalloc.sh PROGRAM [ARGUMENT...]
: "${INK_LIB:?set it to the path of libinkalloc.so; make check does}"
if [ "${INK_SANITIZER:-none}" != none ]; then
    echo "skipped: the $INK_SANITIZER sanitizer's run time owns malloc, nothing can be preloaded"
    exit 77
fi
if [ "${INK_HOST_IS_BUILD:-yes}" != yes ]; then
    echo "skipped: built for another machine"
    exit 77
fi
case ${INK_HEAD:-index},$(basename "$1") in
locked,race_signal | locked,race_siglongjmp)
    echo "skipped: the locked head does not promise malloc from handlers that interrupted it (docs/design.md, Heads)"
    exit 77
    ;;
esac
[ -f "$INK_LIB" ] || { echo "$INK_LIB is not there; run make first"; exit 1; }
LD_PRELOAD=$INK_LIB exec "$@"
