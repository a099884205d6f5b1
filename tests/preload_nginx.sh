#!/bin/bash
# nginx with two workers, under load from eight threads: files, compression, substitution, byte ranges, uploads, a proxy
# with a cache in front of itself, TLS, and a change of its configuration in the middle of it; every answer
# is held against what it must be.

. "${INK_SRCDIR:?}/tests/lib.sh"
need nginx openssl python3 setpriv

user=
[ "$(id -u)" != 0 ] || user='user root;'
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 30 -keyout "$scratch/key" -out "$scratch/crt" \
    2>/dev/null || fail "no certificate could be made"
mkdir "$scratch/site"
text 3000 >"$scratch/site/text.txt"
for size in 1 100 5000 70000 3000000; do
    head -c $size /dev/zero | tr '\0' x >"$scratch/site/$size.html"
done
cat >"$scratch/conf" <<END
daemon off;
$user
pid pid;
worker_processes 2;
error_log error.log;
events { worker_connections 200; }
http {
    types { text/html html; text/plain txt; }
    access_log access.log;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    proxy_cache_path cache keys_zone=own:1m;
    client_max_body_size 10m;
    gzip on;
    gzip_min_length 200;
    gzip_types text/plain;
    server {
        listen unix:socket;
        listen unix:secure ssl;
        ssl_certificate $scratch/crt;
        ssl_certificate_key $scratch/key;
        ssl_session_cache shared:sessions:1m;
        root $scratch/site;
        location /sub/ { alias $scratch/site/; sub_filter ag <AG>; sub_filter_once off; sub_filter_types text/plain; }
        location /cached/ { proxy_pass http://unix:socket:/; proxy_cache own; proxy_cache_valid 200 1h; }
        location /direct/ { proxy_pass http://unix:socket:/; proxy_buffers 4 4k; }
        location /up/ { root files; dav_methods PUT DELETE; create_full_put_path on; }
        location /old { return 200 "before\n"; }
    }
}
END

cat >"$scratch/client.py" <<'END'
import gzip
import hashlib
import http.client
import random
import socket
import ssl
import sys
import threading

site, rounds = sys.argv[1], int(sys.argv[2])
files = {}
for name in ("text.txt", "1.html", "100.html", "5000.html", "70000.html", "3000000.html"):
    with open(site + "/" + name, "rb") as file:
        files[name] = file.read()
wrong = []
trust = ssl.create_default_context()
trust.check_hostname = False
trust.verify_mode = ssl.CERT_NONE


class Connection(http.client.HTTPConnection):
    def __init__(self, secure=False):
        super().__init__("localhost", timeout=60)
        self.secure = secure

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect("secure" if self.secure else "socket")
        if self.secure:
            self.sock = trust.wrap_socket(self.sock)


def fetch(connection, method, path, body=None, **headers):
    connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    data = answer.read()
    if answer.getheader("Content-Encoding") == "gzip":
        data = gzip.decompress(data)
    return answer.status, data


def work(number):
    rng = random.Random(number)
    connection = Connection(number % 3 == 0)
    digest = hashlib.sha256()
    for i in range(rounds):
        name = rng.choice(list(files)[:5] if i % 20 else list(files))
        what = rng.randrange(8)
        status, right = 200, files[name]
        if what == 0:
            first = rng.randrange(len(right))
            got = fetch(connection, "GET", "/" + name, Range="bytes=%d-%d" % (first, first + 999))
            status, right = 206, right[first:first + 1000]
        elif what == 1:
            got = fetch(connection, "GET", "/sub/text.txt", Accept_Encoding="gzip")
            right = files["text.txt"].replace(b"ag", b"<AG>")
        elif what == 2:
            body = (b"%d-%d" % (number, i)) * rng.randrange(1, 20000)
            path = "/up/%d/%d" % (number, i % 10)
            fetch(connection, "DELETE", path)
            got = fetch(connection, "PUT", path, body)
            if got[0] == 201:
                got = fetch(connection, "GET", path)
            right = body
        elif what == 3:
            got = fetch(connection, "GET", "/no/such/%d" % i)
            status, right = 404, got[1]
        else:
            where = ("/", "/cached/", "/direct/", "/")[what - 4]
            got = fetch(connection, "GET", where + name, Accept_Encoding="gzip" if i & 1 else "identity")
        digest.update(got[1])
        if got != (status, right):
            wrong.append((name, what, got[0], len(got[1]), len(right)))
    connection.close()
    results[number] = digest.hexdigest()


results = {}
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for number in sorted(results):
    print(number, results[number])
print("wrong:", wrong)
sys.exit(len(wrong) > 0)
END

old() {
    python3 -c 'import socket
s = socket.socket(socket.AF_UNIX)
s.connect("socket")
s.sendall(b"GET /old HTTP/1.0\r\n\r\n")
print(s.makefile("rb").read().decode().splitlines()[-1])'
}

work() {
    local tenth
    mkdir files
    cp "$scratch/conf" conf
    serve socket nginx -p . -c conf -e error.log
    python3 "$scratch/client.py" "$scratch/site" "$1" || return 1
    old
    sed -i s/before/after/ conf
    kill -HUP $server
    for ((tenth = 0; tenth < 300; tenth++)); do
        [ "$(old)" = after ] && echo after && break
        sleep 0.1
    done
    python3 "$scratch/client.py" "$scratch/site" "$1" || return 1
    served_well
    grep HTTP/1.1 access.log | cut -d ' ' -f 6-9 | sort | sha256sum
    ! grep -E '\[(alert|crit|emerg)\]' error.log
}

compare 0 work 100
grep -q 'wrong: \[\]' "$scratch/inkalloc.out" || fail "nginx was not asked"
prove nginx work 3
