#!/bin/bash
# memcached with four threads, loaded by eight connections: values of all sizes are set, read back, counted, replaced
# and deleted, the whole store is flushed and filled again; every answer is held against what was stored.

. "${INK_SRCDIR:?}/tests/lib.sh"
need memcached python3 setpriv

as=()
[ "$(id -u)" != 0 ] || as=(-u root)

cat >"$scratch/client.py" <<'END'
import hashlib
import random
import socket
import sys
import threading

rounds = int(sys.argv[1])
wrong = []


class Client:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect("socket")
        self.lines = self.socket.makefile("rb")

    def ask(self, *words, data=None):
        text = " ".join(map(str, words)).encode() + b"\r\n"
        self.socket.sendall(text if data is None else text + data + b"\r\n")
        return self.lines.readline().decode().strip()

    def get(self, *keys):
        found = {}
        line = self.ask("get", *keys)
        while line != "END":
            _, key, _, length = line.split()
            found[key] = self.lines.read(int(length))
            self.lines.read(2)
            line = self.lines.readline().decode().strip()
        return found


def value(rng, key):
    length = rng.choice((10, 100, 1000, 10000, rng.randrange(200000)))
    return (hashlib.md5(key.encode()).hexdigest().encode() * (length // 32 + 1))[:length]


def work(number):
    rng = random.Random(number)
    client = Client()
    stored = {}
    digest = hashlib.sha256()
    for i in range(rounds):
        key = "key-%d-%d" % (number, rng.randrange(300))
        what = rng.randrange(10)
        if what < 4:
            stored[key] = value(rng, key)
            answer, right = client.ask("set", key, 0, 0, len(stored[key]), data=stored[key]), "STORED"
        elif what < 5:
            right = "DELETED" if stored.pop(key, None) is not None else "NOT_FOUND"
            answer = client.ask("delete", key)
        elif what < 6:
            right = "STORED" if key in stored else "NOT_STORED"
            if key in stored:
                stored[key] += b"more" * 20
            answer = client.ask("append", key, 0, 0, 80, data=b"more" * 20)
        else:
            keys = ["key-%d-%d" % (number, rng.randrange(300)) for _ in range(8)]
            answer, right = client.get(*keys), {k: stored[k] for k in keys if k in stored}
            for data in answer.values():
                digest.update(data)
        if answer != right:
            wrong.append((key, str(answer)[:60], str(right)[:60]))
    results[number] = (len(stored), sum(map(len, stored.values())), digest.hexdigest())


for wave in range(2):
    results = {}
    threads = [threading.Thread(target=work, args=(wave * 8 + n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in sorted(results):
        print(number, *results[number])
    control = Client()
    print(control.ask("set", "counter", 0, 0, 1, data=b"5"), control.ask("incr", "counter", 37))
    if wave == 0:
        print(control.ask("flush_all"), control.get("counter", "key-0-0"))
print(control.ask("set", "large", 0, 0, 2000000, data=b"x" * 2000000))
print(control.ask("no_such_command"))
print("wrong:", wrong)
sys.exit(len(wrong) > 0)
END

work() {
    serve socket memcached -s socket -m 1024 -t 4 "${as[@]}"
    python3 "$scratch/client.py" "$1" || return 1
    served_well
}

compare 0 work 1000
grep -q 'wrong: \[\]' "$scratch/inkalloc.out" || fail "memcached was not asked"
prove memcached work 20
