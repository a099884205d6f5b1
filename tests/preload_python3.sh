#!/bin/bash
# python3: objects, json, text and compression, many threads, and multiprocessing by fork and spawn;
# once with python's own small-block pools on top of malloc, once with malloc for everything.

. "${INK_SRCDIR:?}/tests/lib.sh"
need python3

export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1

cat >"$scratch/script.py" <<'END'
import collections
import hashlib
import json
import multiprocessing
import random
import re
import sys
import threading
import zlib


def digest(data):
    return hashlib.sha256(repr(data).encode()).hexdigest()[:16]


def objects():
    rng = random.Random(1)
    tree = collections.defaultdict(lambda: collections.defaultdict(list))
    for i in range(15000):
        tree[rng.randrange(500)][str(rng.randrange(50))].append({"i": i, "text": "x" * rng.randrange(300)})
    text = json.dumps(tree, sort_keys=True)
    back = json.loads(text)
    for key in list(back)[::3]:
        del back[key]
    words = re.findall(r'"text": "(x{100,120})"', text)
    packed = zlib.compress(text.encode(), 1)
    return len(text), len(back), len(words), len(zlib.decompress(packed)), digest(sorted(words)[:100])


def churn(seed):
    rng = random.Random(seed)
    slots = [None] * 2000
    total = 0
    for i in range(6000):
        at = rng.randrange(2000)
        size = rng.choice((8, 40, 200, 1000, 5000, 70000))
        total += len(slots[at] or b"")
        slots[at] = bytearray(size) if i & 1 else "é" * size
    return total


def threads():
    results = {}

    def work(seed):
        results[seed] = churn(seed)

    # More threads than the machine has cores, and as many again while the first ones end.
    for wave in range(2):
        group = [threading.Thread(target=work, args=(wave * 8 + n,)) for n in range(8)]
        for thread in group:
            thread.start()
        for thread in group:
            thread.join()
    return digest(sorted(results.items()))


def processes(method):
    held = [bytes(1000) for _ in range(5000)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        return digest([len(held), pool.map(churn, range(6), chunksize=1)])


if __name__ == "__main__":
    print(objects())
    print(threads())
    print(processes("fork"))
    print(processes("spawn"))
    print("to stderr", file=sys.stderr)
    try:
        bytearray(1 << 62)
    except MemoryError:
        print("MemoryError")
    sys.exit(4)
END

work_with_pools() {
    python3 "$scratch/script.py"
}

work_without_pools() {
    PYTHONMALLOC=malloc python3 "$scratch/script.py"
}

compare 4 work_with_pools
compare 4 work_without_pools
prove python3 python3 -c 'import json; print(json.dumps([1, 2]))'
