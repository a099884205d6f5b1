"""Atomic read-modify-writes of each row, counted by a build of inkalloc that counts them (bench/count.c)."""

import os
import tempfile

from .allocators import Allocator
from .runner import Failed


def read_counts(path):
    """The sum of what all processes of a row have appended: {"operations": n, "rmw": n, "retries": n}."""
    total = {"operations": 0, "rmw": 0, "retries": 0}
    try:
        with open(path, encoding="ascii") as file:
            for line in file:
                words = line.split()
                for name, value in zip(words[::2], words[1::2]):
                    total[name] += int(value)
    except FileNotFoundError:
        pass
    return total


def count(runner, rows, library):
    """{"rows": {row: counts}}: one run of each row, as counts hardly vary."""
    counting = Allocator("counting", os.path.abspath(library), "")
    found = {}
    with tempfile.TemporaryDirectory(prefix="ink-counts-") as directory:
        for row in rows:
            path = os.path.join(directory, row.name)
            try:
                runner.run(row, counting, {"INK_COUNTS": path})
            except Failed:
                continue
            counts = read_counts(path)
            if counts["operations"]:
                found[row.name] = counts
    return {"rows": found}


def render(counted):
    lines = ["", f"{'shared operations':22}{'mallocs+frees':>16}{'rmw / million':>16}{'retries / million':>20}"]
    for name, c in counted["rows"].items():
        million = c["operations"] / 1e6
        lines.append(f"{name:22}{c['operations']:16}{c['rmw'] / million:16.0f}{c['retries'] / million:20.1f}")
    return "\n".join(lines)
