"""Instructions, counted by valgrind: per operation of five loops (instructions.sh), and of whole rows.  Exact, whatever else the
machine does."""

import os
import re
import shutil
import subprocess
import tempfile


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


def of_row(runner, row, allocator):
    """Of one run of the row's own process, without children; None where valgrind cannot run it.  A server is not counted."""
    if row.client:
        return None
    scratch = tempfile.mkdtemp(prefix="ink-row-")
    try:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *runner.words(row.run)], cwd=scratch,
            env={**runner.environment(row, scratch), "LD_PRELOAD": allocator.library}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found.group(1)) if found and done.returncode == 0 else None


def of_rows(runner, rows, allocators):
    """{row: {allocator: instructions}}"""
    if not shutil.which("valgrind"):
        raise CannotCount("valgrind is not installed")
    counted = {}
    for row in rows:
        runner.inputs.prepare(row)
        counted[row.name] = {a.name: of_row(runner, row, a) for a in allocators}
    return counted


def render_rows(whole):
    names = [a["name"] for a in whole["allocators"]]
    lines = ["", f"{'million instructions':22}" + "".join(f"{n:>22}" for n in names)]
    for row in whole["rows"]:
        found = [row["cells"].get(n, {}).get("instructions") for n in names]
        lines.append(f"{row['name']:22}" + "".join(f"{v / 1e6:22.2f}" if v else f"{'-':>22}" for v in found))
    return "\n".join(lines)


def render(counted):
    lines = ["", f"{'instructions':22}" + "".join(f"{loop:>10}" for loop in counted["loops"])]
    lines += [f"{name:22}" + "".join(f"{v:10.1f}" for v in figures) for name, figures in counted["figures"].items()]
    return "\n".join(lines)
