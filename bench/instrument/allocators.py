"""Which allocators there are, and whether a library really serves malloc when it is preloaded."""

import os
import re
import subprocess
from dataclasses import dataclass

from . import machine

# Debian's package and the name of its library.
PEERS = {
    "libjemalloc2": "libjemalloc.so.2",
    "libmimalloc2.0": "libmimalloc.so.2",
    "libtcmalloc-minimal4": "libtcmalloc_minimal.so.4",
}


class NotServing(Exception):
    """The library cannot be preloaded, or malloc is not bound to it."""


@dataclass
class Allocator:
    name: str
    library: str  # to preload; empty: the system's malloc
    version: str
    file: str = ""  # where the loader finds it


def preload(library, **variables):
    """What the loader and the allocator print while /bin/true runs on the library."""
    environment = {"PATH": os.environ.get("PATH", ""), "LD_PRELOAD": library, **variables}
    done = subprocess.run(["/bin/true"], env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def serving_file(library):
    """The file that malloc is bound to; ld.so goes on with libc's when it cannot preload one, so its word is not enough."""
    bound = re.search(
        r"binding file /bin/true \[0\] to (\S+) \[0\]: normal symbol `malloc'",
        preload(library, LD_DEBUG="bindings", LD_BIND_NOW="1"),
    )
    file = bound.group(1) if bound else ""
    if not file or re.fullmatch(r".*/libc\.so\.6|.*/ld-musl.*", file):
        raise NotServing(f"{library} does not serve malloc when preloaded")
    return file


def package_version(name):
    """Of Debian's package; empty where there is none, or no Debian."""
    return machine.first_line(["dpkg-query", "-W", "-f", "${Version}", name])


def find(name, library, libc):
    """An allocator by its name; raises NotServing."""
    if name == "system" and not library:
        return Allocator(name, "", libc)
    library = library or PEERS.get(name)
    if not library:
        raise NotServing(f"{name} is not known: give inkalloc, system, {', '.join(PEERS)} or NAME=LIBRARY")
    if "/" in library:
        library = os.path.abspath(library)
    file = serving_file(library)
    banner = preload(library, INKALLOC_CONF="banner:true").strip()
    version = banner if banner.startswith("inkalloc ") else package_version(name) or os.path.basename(file)
    return Allocator(name, library, version, file)


def choose(wanted, own_library, libc):
    """The allocators of the arguments, NAME or NAME=LIBRARY; without any, inkalloc, the system's and the peers that are here.
    Returns them and the sentences to say about those left out."""
    everybody = not wanted
    found, words = [], []
    for argument in wanted or ["inkalloc", "system", *PEERS]:
        name, _, library = argument.partition("=")
        if name == "inkalloc" and not library:
            library = own_library
        try:
            found.append(find(name, library, libc))
        except (NotServing, OSError) as error:
            if not (everybody and name in PEERS):
                raise
            words.append(f"{name} is not installed, left out")
    if len({a.name for a in found}) < len(found):
        raise NotServing("two allocators have the same name; give the second another one with NAME=LIBRARY")
    return found, words
