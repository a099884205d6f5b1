"""Instructions per operation, from instructions.sh: exact, whatever else the machine does."""

import os
import subprocess


class CannotCount(Exception):
    """valgrind, or the program that it counts, is missing."""


def count(source, build, allocators):
    """{"loops": [...], "figures": {allocator: [...]}}"""
    arguments = [a.name if a.name == "system" else f"{a.name}={a.library}" for a in allocators]
    environment = {**os.environ, "INK_BUILDDIR": build}
    done = subprocess.run(["bash", os.path.join(source, "instructions.sh"), *arguments],
                          env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotCount(done.stderr.strip().split("\n")[-1])
    lines = [line.split() for line in done.stdout.split("\n") if line and not line.startswith("#")]
    names = {a.name for a in allocators}
    return {"loops": lines[0][1:], "figures": {l[0]: [float(v) for v in l[1:]] for l in lines[1:] if l[0] in names}}


def render(counted):
    lines = ["", f"{'instructions':22}" + "".join(f"{loop:>10}" for loop in counted["loops"])]
    lines += [f"{name:22}" + "".join(f"{v:10.1f}" for v in figures) for name, figures in counted["figures"].items()]
    return "\n".join(lines)
