#!/bin/bash
# A C extension module, built here against python3's headers: it is loaded with dlopen, allocates
# without the interpreter's lock, from several threads and in forked children.

. "${INK_SRCDIR:?}/tests/lib.sh"
need python3 gcc
headers=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
need "$headers/Python.h"

gcc -std=c11 -O2 -Wall -Wextra -shared -fPIC -I "$headers" -o "$scratch/inkext_c.so" \
    "$INK_SRCDIR/tests/python3_ext.c" || fail "the C extension does not build"
export PYTHONPATH=$scratch PYTHONDONTWRITEBYTECODE=1

cat >"$scratch/script.py" <<'END'
import concurrent.futures
import os

import inkext_c

print(inkext_c.churn(1, 20000))
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda seed: inkext_c.churn(seed, 60000), range(16))))
    # Children of a process with threads: they allocate in the extension and start threads themselves.
    for child in range(4):
        pid = os.fork()
        if pid == 0:
            with concurrent.futures.ThreadPoolExecutor(2) as own:
                sums = list(own.map(lambda seed: inkext_c.churn(seed, 5000), (child, child + 100)))
            print("child", child, sums, flush=True)
            os._exit(0)
        print(os.waitpid(pid, 0)[1], flush=True)
try:
    inkext_c.churn("text", 1)
except TypeError as error:
    print(error)
END

work() {
    python3 -u "$scratch/script.py"
}

compare 0 work
prove "$scratch/inkext_c.so" python3 -c 'import inkext_c; print(inkext_c.churn(1, 1000))'
