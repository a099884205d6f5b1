"""Loads a server through the Unix socket "socket": client.py memcached|http|redis.  Requests go out in batches, so that the server works
and the client mostly waits."""
import random
import socket
import sys

rng = random.Random(5)


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("socket")
    return connection, connection.makefile("rb")


def value():
    return b"v" * int(20 * 500 ** rng.random())


def memcached(batches=250, size=200):
    connection, answers = connect()
    for _ in range(batches):
        request = []
        for _ in range(size):
            key = b"key%d" % rng.randrange(20000)
            what = rng.random()
            if what < 0.6:
                data = value()
                request.append(b"set %s 0 0 %d noreply\r\n%s\r\n" % (key, len(data), data))
            elif what < 0.8:
                request.append(b"delete %s noreply\r\n" % key)
            else:
                request.append(b"get %s\r\n" % key)
        connection.sendall(b"".join(request) + b"version\r\n")
        while not answers.readline().startswith(b"VERSION"):
            pass


def redis(batches=120, size=300):
    connection, answers = connect()

    def command(*words):
        return b"*%d\r\n%s" % (len(words), b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))

    for _ in range(batches):
        request = []
        for _ in range(size):
            key = b"%d" % rng.randrange(5000)
            request.append(rng.choice((
                command(b"SET", b"s" + key, value()), command(b"SET", b"s" + key, value()), command(b"DEL", b"s" + key),
                command(b"HSET", b"h" + key[:2], key, value()[:300]), command(b"RPUSH", b"l" + key[:2], value()[:500]),
                command(b"LTRIM", b"l" + key[:2], b"-100", b"-1"), command(b"ZADD", b"z" + key[:2], key, key + b"m"),
                command(b"APPEND", b"s" + key, b"more"))))
        connection.sendall(b"".join(request))
        for _ in range(size):
            line = answers.readline()
            if line[:1] == b"-":
                sys.exit(line.decode())


def http(connections=40, requests=60):
    for _ in range(connections):
        connection, answers = connect()
        for _ in range(requests):
            size = rng.choice((100, 100, 5000, 5000, 5000, 70000, 1000000 if rng.random() < 0.1 else 100))
            connection.sendall(b"GET /%d HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n" % size)
            length, chunked = 0, False
            while (line := answers.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split()[1])
                chunked |= line.lower().startswith(b"transfer-encoding: chunked")
            answers.read(length)
            while chunked and (size := int(answers.readline(), 16)) + 1:
                answers.read(size + 2)
                if size == 0:
                    break
        connection.close()


{"memcached": memcached, "redis": redis, "http": http}[sys.argv[1]]()
