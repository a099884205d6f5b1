#!/bin/bash
# gdb: the debug information of a C++ program read whole, a session with breakpoints in its threads, calls into
# it, python inside gdb; the program that it starts is preloaded too. A core file read afterwards, and an error.

. "${INK_SRCDIR:?}/tests/lib.sh"
need gdb g++
export SHELL=/bin/sh # starts the program

cat >"$scratch/program.cc" <<'END'
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

struct Item {
    int number;
    std::string name;
};

std::map<int, std::vector<Item>> tree;

char *twice(const char *text)
{
    char *made = static_cast<char *>(std::malloc(2 * std::strlen(text) + 1));
    return std::strcat(std::strcpy(made, text), text);
}

void stop_here(const Item &item)
{
    std::free(twice(item.name.c_str()));
}

int main(int argc, char **)
{
    for (int i = 0; i < 300; i++) {
        tree[i % 7].push_back({i, "item " + std::to_string(i)});
    }
    for (int i = 0; i < 5; i++) {
        std::thread([i] { stop_here(tree[i].back()); }).join();
    }
    std::cout << tree.size() << " kinds" << std::endl;
    if (argc > 1) {
        std::abort();
    }
    return 3;
}
END
g++ -std=c++17 -g3 -O0 -pthread -o "$scratch/program" "$scratch/program.cc" || fail "the program does not build"

cat >"$scratch/session" <<'END'
set pagination off
set print thread-events off
break stop_here
commands
silent
print item.number
print item.name.c_str()
bt -frame-arguments none 1
continue
end
run
info breakpoints
delete
break abort
run again
print tree.size()
print (char *)twice("called ")
generate-core-file core.program
python
held = [str(i) * 100 for i in range(20000)]
print(len("".join(held)), gdb.lookup_global_symbol("main").type)
print(gdb.parse_and_eval("tree")["_M_t"]["_M_impl"]["_M_node_count"])
end
kill
print no_such_name
END

# Addresses, processes and threads have other numbers every time.
plain() {
    sed -E -e 's/0x[0-9a-f]+/0x/g' -e 's,(LWP |process |/proc/)[0-9]+,\1,g'
}

work() {
    local start=(gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set auto-load safe-path /')
    "${start[@]}" -ex 'maint expand-symtabs' -ex 'info types .' -ex 'info functions .' -ex 'info scope main' \
        "$scratch/program" >symbols
    wc -l <symbols
    sha256sum symbols
    "${start[@]}" -x "$scratch/session" "$scratch/program" >session 2>&1
    echo "gdb ends with $?"
    plain <session
    "${start[@]}" -ex 'bt -frame-arguments none' -ex 'frame function main' -ex 'print argc' -ex 'info locals' \
        "$scratch/program" core.program >session 2>&1
    plain <session
    "${start[@]}" -ex 'file /missing/program'
}

compare 1 work
grep -q '7 kinds' "$scratch/inkalloc.out" || fail "the program did not run under gdb"
prove gdb gdb -nx -q -batch -ex 'print sizeof(Item)' "$scratch/program"
