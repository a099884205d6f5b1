"""Runs one row under one allocator, and all of them in turn."""

import dataclasses
import fnmatch
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from . import machine

LIMIT_SECONDS = 300
# An allocator that takes so long in a row is run so often there and no more: what it is slow by needs no fifteen runs to be seen.
SLOW_SECONDS = 4
SLOW_ROUNDS = 3
SKIPPED = 77
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
RESULT = re.compile(rf"^(\w+) ({NUMBER}) (\w+)$", re.M)
JSON_RESULT = re.compile(rf'^ *"(\w+)": ({NUMBER}),?$', re.M)


class Failed(Exception):
    """This run gives no figure; the sentence says why."""


class FreshCopies:
    """Copies of the allocators' libraries, new ones for each round.  Where a file's pages lie in memory lasts as long as the file
    is cached, and is presumably why two copies of one build were seen to differ by some percent, the same one ahead in nearly
    every round: fifteen rounds take that for a difference.  New copies in each round make it noise."""

    def __init__(self, allocators):
        self.allocators = allocators
        self.directory = tempfile.mkdtemp(prefix="ink-libraries-")

    def of_round(self, number):
        """The allocators, each with the path of its copy."""
        fresh = []
        for index, allocator in enumerate(self.allocators):
            if allocator.file:
                place = os.path.join(self.directory, f"{number:03}-{index:02}")
                os.mkdir(place)
                copy = os.path.join(place, os.path.basename(allocator.file))
                shutil.copyfile(allocator.file, copy)
                allocator = dataclasses.replace(allocator, library=copy)
            fresh.append(allocator)
        for old in os.listdir(self.directory):
            if not old.startswith(f"{number:03}-"):
                shutil.rmtree(os.path.join(self.directory, old))
        return fresh

    def remove(self):
        shutil.rmtree(self.directory, ignore_errors=True)


class Runner:
    def __init__(self, places, inputs):
        self.places = places  # directories by the name that rows.ini uses
        self.inputs = inputs
        self.outputs = {}  # of rows whose output must be the same for all: its digest, and whose it was first

    def words(self, words):
        return [word.format(**self.places) for word in words]

    def available(self, row):
        """None, or why the row cannot run on this machine at all."""
        for need in self.words(row.needs):
            if not (os.path.exists(need) if "/" in need else shutil.which(need)):
                return f"{need} is not installed"
        if row.memory and machine.meminfo("MemAvailable") < row.memory << 20:
            return f"needs {row.memory} MiB of memory"
        return None

    def environment(self, row, scratch):
        """Nothing of the user's settings gets in, other than where programs are found."""
        fixed = {"LC_ALL": "C.UTF-8", "HOME": scratch, "TMPDIR": scratch, "PATH": os.environ["PATH"]}
        return {**fixed, **row.environment}

    def run(self, row, allocator, extra=None):
        """One run; returns figures of the process and results, name: (value, unit), that the program printed."""
        self.inputs.prepare(row)
        scratch = tempfile.mkdtemp(prefix="ink-row-")
        try:
            return self.run_in(row, allocator, scratch, extra or {})
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def run_in(self, row, allocator, scratch, extra):
        reader, writer = os.pipe()
        command = [os.path.join(self.places["bench"], "measure"), "-l", allocator.library, str(writer), "--"]
        environment = {**self.environment(row, scratch), **extra}
        with open(os.path.join(scratch, ".out"), "w+b") as out, open(os.path.join(scratch, ".err"), "w+b") as err:
            process = subprocess.Popen(
                command + self.words(row.run), cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, pass_fds=[writer], start_new_session=True)
            os.close(writer)
            try:
                if row.client:
                    self.load(row, process, scratch)
                process.wait(LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                raise Failed(f"took more than {LIMIT_SECONDS} seconds") from None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                with os.fdopen(reader) as lines:
                    usage = {name: int(value) for name, value in map(str.split, lines)}
            out.seek(0)
            err.seek(0)
            output, errors = out.read(), err.read().decode(errors="replace").strip()
        self.judge(row, usage.get("status", -1), errors)
        self.compare_output(row, allocator, output)
        return usage, results_of(row, output)

    def load(self, row, process, scratch):
        """Loads the server through its socket in the scratch directory, without the allocator, then asks it to end."""
        socket = os.path.join(scratch, "socket")
        deadline = time.monotonic() + LIMIT_SECONDS
        while not os.path.exists(socket):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed("the server does not start")
            time.sleep(0.01)
        client = subprocess.run(
            self.words(row.client), cwd=scratch, env=self.environment(row, scratch), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        process.send_signal(signal.SIGTERM)
        if client.returncode != 0:
            raise Failed(f"the client ends with {client.returncode}: {last_line(client.stderr)}")

    @staticmethod
    def judge(row, status, errors):
        expected = (0, 128 + signal.SIGTERM) if row.client else (0,)
        if status == SKIPPED:
            raise Failed(last_line(errors) or "skips itself")
        if status > 128 and status not in expected:
            raise Failed(f"ended by {signal.Signals(status - 128).name}: {last_line(errors)}")
        if status not in expected:
            raise Failed(f"ends with {status}: {last_line(errors)}")

    def compare_output(self, row, allocator, output):
        if not row.same_output:
            return
        digest = hashlib.sha256(output).hexdigest()
        first, whose = self.outputs.setdefault(row.name, (digest, allocator.name))
        if digest != first:
            raise Failed(f"prints something else than under {whose}")


def last_line(text):
    lines = text.strip().split("\n")
    return lines[-1][:200]


def results_of(row, output):
    """The lines "name value unit" of our programs, and the lines of glibc's, which are JSON's "name": value."""
    text = output.decode(errors="replace")
    results = {name: (float(value), unit) for name, value, unit in RESULT.findall(text)}
    results.update((name, (float(value), "")) for name, value in JSON_RESULT.findall(text))
    for wanted in filter(None, (row.per, row.result)):
        if not fnmatch.filter(results, wanted):
            raise Failed(f"does not print {wanted}")
    return results


class Progress:
    """One line on a terminal, rewritten; nothing anywhere else."""

    def __init__(self, total):
        self.total = total
        self.done = 0
        self.start = time.monotonic()
        self.shown = sys.stderr.isatty()

    def step(self, what):
        if self.shown and self.done:
            left = (time.monotonic() - self.start) / self.done * (self.total - self.done)
            sys.stderr.write(f"\r\033[K{self.done * 100 // self.total:3d} %  {left / 60:.0f} min left  {what}")
            sys.stderr.flush()
        self.done += 1

    def end(self):
        if self.shown:
            sys.stderr.write("\r\033[K")


def rounds_of(row, rounds):
    return min(rounds, row.rounds or rounds)


def is_due(row, number, done):
    """Whether the allocator with these runs of the row runs in this round.  A row that runs once needs no warming."""
    if number == 0:
        return row.rounds != 1
    slow = len(done) >= SLOW_ROUNDS and all(usage["wall_ns"] > SLOW_SECONDS * 1e9 for usage, _ in done)
    return not slow


def one_round(runner, row, allocators, number, runs, left_out, progress):
    """A row under each allocator, in an order that the round's number rotates; adds to runs when all have run."""
    shift = number % len(allocators)
    now = {}
    for allocator in allocators[shift:] + allocators[:shift]:
        progress.step(f"round {number}: {row.name} under {allocator.name}")
        if allocator.name in left_out or not is_due(row, number, runs[allocator.name]):
            continue
        try:
            now[allocator.name] = runner.run(row, allocator)
        except Failed as failure:
            left_out[allocator.name] = str(failure)
    if number > 0:
        for name, run in now.items():
            runs[name].append(run)


def run_all(runner, rows, allocators, rounds):
    """Every row's runs, one round after another: {row: {allocator: [run, ...]}}, and what was left out.

    Round by round over all rows, so that a neighbour's busy minute spoils one round of many rows and not a row.  Within a
    round the allocators follow each other, in an order that is rotated.  Round 0 warms up and is not counted.
    Interrupted, it returns the rounds that are whole."""
    runs = {row.name: {a.name: [] for a in allocators} for row in rows}
    left_out = {row.name: {} for row in rows}
    progress = Progress(sum((1 + rounds_of(row, rounds)) * len(allocators) for row in rows))
    copies = FreshCopies(allocators)
    try:
        for number in range(rounds + 1):
            fresh = copies.of_round(number)
            for row in rows:
                if number <= rounds_of(row, rounds):
                    one_round(runner, row, fresh, number, runs[row.name], left_out[row.name], progress)
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted: the table has the rounds that were run\n")
    finally:
        copies.remove()
    progress.end()
    return runs, left_out
