#!/bin/bash
# valgrind needs no option: it takes malloc's place in libinkalloc as it would in the C library. The
# report of memcheck is the same as without inkalloc, for a preloaded program and for one linked with
# -linkalloc; told to keep its hands off, it finds no fault in inkalloc itself. A library whose symbols
# valgrind cannot read would show as a heap without a single allocation.

. "${INK_SRCDIR:?}/tests/lib.sh"
need valgrind gcc g++

cat >"$scratch/clean.cc" <<'END'
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

struct alignas(64) Wide {
    char c[64];
};

int main()
{
    std::map<int, std::string> tree;
    for (int i = 0; i < 2000; i++) {
        tree[i * 7919 % 997] += std::string(i % 100, 'x');
    }
    delete new Wide;
    delete[] new Wide[3];
    delete new (std::nothrow) int;
    delete[] new (std::nothrow) int[4];
    auto array = std::make_unique<int[]>(100);
    std::thread([] { std::vector<std::string>(1000, "a string that is not kept in place"); }).join();
    void *block = nullptr;
    if (posix_memalign(&block, 256, 100) != 0) {
        return 1;
    }
    free(block);
    block = realloc(aligned_alloc(64, 128), 100000);
    free(block);
    std::printf("%zu\n", tree.size());
}
END
cat >"$scratch/faulty.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *volatile lost = malloc(1234);
    char *volatile used = malloc(50);
    char *volatile text = strdup("text");
    lost[0] = 'a';
    lost = NULL;
    used[0] = 'b';
    free(used);
    printf("%s, after free: %d\n", text, used[0] == 'b');
    text[5] = 'x';
    printf("uninitialised: %s\n", ((char *volatile)malloc(10))[3] ? "yes" : "no");
    free(text);
    return 0;
}
END
library=${INK_LIB%/*}
linked=(-L "$library" -Wl,--no-as-needed -linkalloc -Wl,-rpath,"$library")
g++ -std=c++17 -g -O0 -pthread -o "$scratch/clean" "$scratch/clean.cc" || fail "clean.cc does not build"
gcc -g -O0 -o "$scratch/faulty" "$scratch/faulty.c" || fail "faulty.c does not build"

# memcheck CODE PROGRAM [OPTION...]: the report on stdout, without what changes from run to run, and without the
# total in bytes: the C library keeps 16 more for each thread per library that has thread-local storage.
memcheck() {
    local code=$1 program=$2
    shift 2
    valgrind --leak-check=full --error-exitcode=9 --log-file=report "$@" "$program"
    [ $? = "$code" ] || echo "the exit code is not $code"
    sed -e 's/^==[0-9]*== *//' -e 's/0x[0-9A-Fa-f]*/0x/g' -e '/^Parent PID/d' \
        -e '/heap usage/s/, [0-9,]* bytes allocated//' report
}

# holds TEXT...: each stands in the report under inkalloc.
holds() {
    local text
    for text; do
        grep -qF -e "$text" "$scratch/inkalloc.out" || fail "memcheck does not report: $text"
    done
}

compare 0 memcheck 0 "$scratch/clean"
holds 'All heap blocks were freed' 'ERROR SUMMARY: 0 errors'
! grep 'heap usage: 0 allocs' "$scratch/inkalloc.out" || fail "memcheck sees no allocation"
compare 0 memcheck 9 "$scratch/faulty"
holds '1,234 bytes in 1 blocks are definitely lost' 'Invalid read of size 1' 'Invalid write of size 1' \
    'depends on uninitialised value'

# The same programs linked with inkalloc: nothing is preloaded, and only the report's stacks may differ.
cp "$scratch/system.out" "$scratch/expected"
gcc -g -O0 -o "$scratch/faulty" "$scratch/faulty.c" "${linked[@]}" || fail "faulty.c does not link"
run_as system memcheck 9 "$scratch/faulty"
diff -u "$scratch/expected" "$scratch/system.out" || fail "memcheck reports something else of the linked program"

# Left alone, inkalloc serves the program, and memcheck has nothing to say of what it does.
run_as inkalloc memcheck 0 "$scratch/clean" --soname-synonyms=somalloc=nouserintercepts
holds 'heap usage: 0 allocs' 'ERROR SUMMARY: 0 errors'
prove clean memcheck 0 "$scratch/clean" --soname-synonyms=somalloc=nouserintercepts
