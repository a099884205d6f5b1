#!/bin/bash
# clang: C and C++ compiled, with and without debug information, linked with the whole program optimised, and
# diagnostics; in the process of the driver and in processes of its own.

. "${INK_SRCDIR:?}/tests/lib.sh"
need clang clang++ awk sha256sum

mkdir "$scratch/src"
awk 'BEGIN {
    print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>"
    print "struct node { struct node *next; long key; char name[24]; };"
    for (i = 0; i < 40; i++) {
        printf "static long f%d(struct node *n, long x)\n{\n    long sum = x;\n", i
        printf "    for (; n; n = n->next) {\n        switch (n->key %% %d) {\n", i % 11 + 5
        for (j = 0; j < 5; j++) {
            printf "        case %d: sum = sum * %d + n->name[%d]; break;\n", j, i * 5 + j + 3, (i + j) % 24
        }
        printf "        default: sum ^= n->key << %d;\n        }\n    }\n    return sum;\n}\n", i % 13
    }
    print "int main(void)\n{\n    struct node *list = NULL;\n    long sum = 0;"
    print "    for (long i = 0; i < 1000; i++) {\n        struct node *n = malloc(sizeof *n);"
    print "        if (!n) return 1;\n        n->next = list;\n        n->key = i * 7919;"
    print "        memset(n->name, (int)(i % 100), sizeof n->name);\n        list = n;\n    }"
    for (i = 0; i < 40; i++) {
        printf "    sum = f%d(list, sum);\n", i
    }
    print "    printf(\"%ld\\n\", sum);\n    return 0;\n}"
}' >"$scratch/src/big.c"
cat >"$scratch/src/main.cc" <<'END'
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

int main()
{
    std::map<std::string, std::vector<std::unique_ptr<std::string>>> tree;
    for (int i = 0; i < 2000; i++) {
        std::string text = "w" + std::to_string(i * 7919 % 977);
        tree[text.substr(1)].push_back(std::make_unique<std::string>(text));
    }
    std::cout << tree.size() << '\n';
}
END
cat >"$scratch/src/wrong.cc" <<'END'
#include <algorithm>
#include <list>
int main()
{
    std::list<int> list;
    std::sort(list.begin(), list.end());
}
END

work() {
    cp "$scratch"/src/* .
    clang -O2 -g -Wall -c big.c
    clang -O0 -S -emit-llvm big.c
    clang -fno-integrated-cc1 -fno-integrated-as -O1 -c big.c -o outside.o
    clang++ -std=c++17 -O1 -g -c main.cc
    sha256sum big.o big.ll outside.o main.o
    clang big.o -o big && ./big
    clang++ main.o -o main && ./main
    clang -E -dM big.c | sha256sum
    clang++ -fsyntax-only -fno-color-diagnostics wrong.cc
}

compare 1 work
prove clang clang -O2 -c -o big.o "$scratch/src/big.c"
