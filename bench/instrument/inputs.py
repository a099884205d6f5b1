"""What the rows read: made when a row first asks for it, the same bytes on every machine, gone at the end."""

import os
import random
import shutil
import subprocess
import tempfile


class NoInputs(Exception):
    """An input cannot be made."""


def vocabulary(rng, count):
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    return ["".join(rng.choice(syllables) for _ in range(rng.randint(2, 4))) for _ in range(count)]


def text(path):
    """Six megabytes of words, some common and most rare, a number in front of each line."""
    rng = random.Random(1)
    words = vocabulary(rng, 20000)
    with open(path, "w", encoding="ascii") as file:
        for _ in range(80000):
            line = [words[int(rng.random() ** 3 * len(words))] for _ in range(10)]
            file.write(f"{rng.randrange(10**6)} {' '.join(line)}\n")


def c_function(rng, number):
    body = "\n".join(
        f"    if (x[{rng.randrange(8)}] > {rng.randrange(100)}) x[{rng.randrange(8)}] += f{rng.randrange(number + 1)}(x) % {rng.randint(2, 9)};"
        if number and rng.random() < 0.4 else
        f"    for (int i = 0; i < {rng.randint(3, 8)}; i++) x[i] = x[i] * {rng.randint(3, 99)} + x[{rng.randrange(8)}] / {rng.randint(2, 9)};"
        for _ in range(8))
    return f"int f{number}(int *x)\n{{\n{body}\n    return x[{rng.randrange(8)}];\n}}\n"


def c_source(path, functions=60, seed=2):
    rng = random.Random(seed)
    with open(path, "w", encoding="ascii") as file:
        file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
        for number in range(functions):
            file.write(f"int f{number}(int *);\n" if number else "")
        file.writelines(c_function(rng, n) for n in range(functions))


def c_project(path):
    """Twelve files and a Makefile that builds them where it is called."""
    os.mkdir(path)
    for number in range(12):
        c_source(os.path.join(path, f"part{number}.c"), 8, seed=100 + number)
    with open(os.path.join(path, "Makefile"), "w", encoding="ascii") as file:
        file.write("V = $(dir $(firstword $(MAKEFILE_LIST)))\nall: $(patsubst %,part%.o,0 1 2 3 4 5 6 7 8 9 10 11)\n"
                   "part%.o: $(V)part%.c\n\t@cc -O1 -c -o $@ $<\n")


def git_repository(path):
    """Three hundred commits to forty files."""
    rng = random.Random(3)
    words = vocabulary(rng, 3000)
    files = {f"d{n % 7}/file{n}": [" ".join(rng.choices(words, k=8)) for _ in range(200)] for n in range(40)}
    stream = []
    for number in range(300):
        for name in rng.sample(sorted(files), 5):
            lines = files[name]
            for _ in range(6):
                lines[rng.randrange(len(lines))] = " ".join(rng.choices(words, k=8))
        stream.append(f"commit refs/heads/main\ncommitter A <a@example.org> {1700000000 + number * 60} +0000\ndata 8\nchange {number % 10}\n")
        for name, lines in files.items():
            content = "\n".join(lines) + "\n"
            stream.append(f"M 644 inline {name}\ndata {len(content)}\n{content}\n")
    subprocess.run(["git", "init", "-q", "-b", "main", path], check=True, capture_output=True)
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input="".join(stream), text=True, check=True, capture_output=True)


NGINX = """daemon off;
%(user)s
pid pid;
worker_processes 1;
error_log error.log;
events { worker_connections 100; }
http {
    access_log access.log;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    default_type text/plain;
    gzip on;
    gzip_comp_level 1;
    gzip_types text/plain;
    keepalive_requests 1000;
    server { listen unix:socket; root %(root)s; }
}
"""


def site(path):
    """Files for a web server, and its configuration."""
    os.mkdir(path)
    with open(os.path.join(path, "nginx.conf"), "w", encoding="utf-8") as file:
        file.write(NGINX % {"root": path, "user": "user root;" if os.getuid() == 0 else ""})
    for size in (100, 5000, 70000, 1000000):
        with open(os.path.join(path, str(size)), "wb") as file:
            file.write(b"inkalloc " * (size // 9))


MAKERS = {"text": text, "source.c": c_source, "project": c_project, "repository": git_repository, "site": site}


class Inputs:
    """A directory of its own, and glibc's benchtests beside the build."""

    def __init__(self, source, build):
        self.source = source
        self.glibc = os.path.join(build, "bench", "glibc-benchtests")
        self.directory = tempfile.mkdtemp(prefix="ink-inputs-")
        self.ready = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)

    def prepare(self, row):
        if row.name in self.ready:
            return
        words = " ".join(row.run + row.client)
        if "{glibc}" in words:
            self.make_benchtests()
        for name, maker in MAKERS.items():
            path = os.path.join(self.directory, name)
            if "{inputs}/" + name in words and not os.path.exists(path):
                try:
                    maker(path)
                except (OSError, subprocess.CalledProcessError) as error:
                    raise NoInputs(f"the input {name} cannot be made: {error}") from error
        self.ready.add(row.name)

    def make_benchtests(self):
        done = subprocess.run(["bash", os.path.join(self.source, "benchtests.sh"), self.glibc],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NoInputs(f"glibc's benchtests cannot be built: {done.stderr.strip()}")
