#!/bin/bash
# gcc: a generated source file compiled, linked and run; link-time optimisation; diagnostics.

. "${INK_SRCDIR:?}/tests/lib.sh"
need gcc awk sha256sum

mkdir "$scratch/src"
awk 'BEGIN {
    print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>"
    print "struct node { struct node *next; long key; char name[24]; };"
    for (i = 0; i < 150; i++) {
        printf "static long f%d(struct node *n, long x)\n{\n", i
        printf "    long sum = x;\n    for (; n; n = n->next) {\n"
        printf "        switch (n->key %% %d) {\n", i % 11 + 5
        for (j = 0; j < 5; j++) {
            printf "        case %d: sum = sum * %d + n->name[%d]; break;\n", j, i * 5 + j + 3, (i + j) % 24
        }
        printf "        default: sum ^= n->key << %d;\n        }\n    }\n", i % 13
        printf "    return sum;\n}\n"
    }
    print "int main(void)\n{\n    struct node *list = NULL;\n    long sum = 0;"
    print "    for (long i = 0; i < 1000; i++) {\n        struct node *n = malloc(sizeof *n);"
    print "        if (!n) {\n            return 1;\n        }\n        n->next = list;"
    print "        n->key = i * 7919;\n        memset(n->name, (int)(i % 100), sizeof n->name);"
    print "        list = n;\n    }"
    for (i = 0; i < 150; i++) {
        printf "    sum = f%d(list, sum);\n", i
    }
    print "    printf(\"%ld\\n\", sum);\n    return 0;\n}"
}' >"$scratch/src/big.c"
printf 'int twice(int x) { return 2 * x; }\n' >"$scratch/src/other.c"
printf '%s\n' 'int twice(int);' 'int main(void) { return twice(21) - 42; }' >"$scratch/src/main.c"
printf '%s\n' '#include <stdio.h>' 'int f(int x) { int y; char *p = x; printf("%s", x); return z }' \
    >"$scratch/src/wrong.c"

work() {
    cp "$scratch"/src/*.c .
    gcc -O2 -g -Wall -c big.c
    gcc -O2 -S -fverbose-asm big.c
    sha256sum big.o big.s
    gcc big.o -o big && ./big
    gcc -O2 -flto -frandom-seed=1 main.c other.c -o small && ./small && echo "lto works"
    gcc -E -dM big.c | sha256sum
    gcc -Wall -Wextra -fsyntax-only wrong.c
}

compare 1 work
prove '.*/cc1' gcc -c -o big.o "$scratch/src/big.c"
