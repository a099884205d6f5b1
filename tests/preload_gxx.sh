#!/bin/bash
# g++: templates and precompiled headers compiled, linked and run; diagnostics.

. "${INK_SRCDIR:?}/tests/lib.sh"
need g++ sha256sum

mkdir "$scratch/src"
cat >"$scratch/src/all.h" <<'END'
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>
END
cat >"$scratch/src/main.cc" <<'END'
#include "all.h"

template <int N> struct Fib {
    static constexpr long value = Fib<N - 1>::value + Fib<N - 2>::value;
};
template <> struct Fib<1> { static constexpr long value = 1; };
template <> struct Fib<0> { static constexpr long value = 0; };

int main()
{
    std::map<std::string, std::vector<std::unique_ptr<std::string>>> tree;
    for (int i = 0; i < 2000; i++) {
        std::string text = "w" + std::to_string(i * 7919 % 977);
        tree[text.substr(1)].push_back(std::make_unique<std::string>(text));
    }
    std::cout << tree.size() << ' ' << Fib<80>::value << '\n';
    try {
        std::string().at(1);
    } catch (const std::exception &error) {
        std::cout << error.what() << '\n';
    }
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
    g++ -std=c++17 -O1 -g -c main.cc -o plain.o
    sha256sum plain.o
    g++ -std=c++17 -O1 -g all.h -o all.h.gch
    g++ -std=c++17 -O1 -g -Winvalid-pch -c main.cc -o with_header.o
    g++ with_header.o -o main && ./main
    g++ -std=c++17 -fsyntax-only wrong.cc
}

compare 1 work
prove '.*/cc1plus' g++ -x c++ -c -o empty.o /dev/null
