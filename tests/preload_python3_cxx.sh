#!/bin/bash
# A C++ extension module, built here against python3's headers: containers, its own threads, and a
# failing operator new in a process whose main program is C and loads libstdc++ late and privately.

. "${INK_SRCDIR:?}/tests/lib.sh"
need python3 g++
headers=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
need "$headers/Python.h"

g++ -std=c++17 -O2 -Wall -Wextra -shared -fPIC -pthread -I "$headers" -o "$scratch/inkext_cxx.so" \
    "$INK_SRCDIR/tests/python3_ext.cc" || fail "the C++ extension does not build"
export PYTHONPATH=$scratch PYTHONDONTWRITEBYTECODE=1

cat >"$scratch/script.py" <<'END'
import multiprocessing

import inkext_cxx


def child(seed):
    return inkext_cxx.churn(seed, 3000)


if __name__ == "__main__":
    print([inkext_cxx.churn(seed, 15000) for seed in range(4)])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(child, range(8), chunksize=1))
    print(inkext_cxx.fail())
END

work() {
    python3 "$scratch/script.py"
}

compare 0 work
prove "$scratch/inkext_cxx.so" python3 -c 'import inkext_cxx; print(inkext_cxx.churn(1, 100))'
