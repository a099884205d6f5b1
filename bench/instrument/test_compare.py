"""Tests of the comparison itself: python3 -m unittest discover -s bench/instrument -t bench"""
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCH))

from instrument import allocators, result, rows, runner, stats  # noqa: E402


def noisy_runs(rng, rounds, factor=1.0, spread=0.03):
    """Rounds of a machine whose speed wanders, as runner.run returns them."""
    runs = []
    for _ in range(rounds):
        cpu = int(1e8 * factor * (1 + rng.gauss(0, spread)))
        runs.append(({"user_ns": cpu, "sys_ns": 0, "wall_ns": cpu, "rss_bytes": 1 << 20, "faults": 100, "status": 0}, {}))
    return runs


def compared(factor, seed, row_count=60, rounds=15):
    """The verdicts on an allocator that takes factor times the base's time in every row."""
    rng = random.Random(seed)
    table = [rows.Row(name=f"r{n}", group="g", why="w", run=["x"]) for n in range(row_count)]
    runs = {r.name: {"a": noisy_runs(rng, rounds), "b": noisy_runs(rng, rounds, factor)} for r in table}
    both = [allocators.Allocator("a", "", ""), allocators.Allocator("b", "", "")]
    whole = result.build({"g": "G"}, table, runs, {r.name: {} for r in table}, both, {})
    return [row["cells"]["b"]["verdict"] for row in whole["rows"]]


class Verdicts(unittest.TestCase):
    def test_the_same_is_not_called_different(self):
        wrong = sum(verdict in ("slower", "faster") for seed in range(5) for verdict in compared(1.0, seed))
        self.assertLessEqual(wrong, 1)  # of 300: one comparison in twenty may err, in one row

    def test_a_tenth_slower_is_found(self):
        self.assertGreaterEqual(compared(1.1, 1).count("slower"), 55)

    def test_a_tenth_faster_is_found(self):
        self.assertGreaterEqual(compared(1 / 1.1, 2).count("faster"), 55)

    def test_few_rounds_decide_nothing(self):
        self.assertEqual(set(compared(1.1, 3, rounds=5)), {"unclear"})

    def test_but_a_gap(self):
        self.assertEqual(set(compared(3, 4, rounds=3)), {"slower"})

    def test_signed_rank_against_the_published_table(self):
        # All of n differences on one side: 2 / 2^n.
        self.assertAlmostEqual(stats.signed_rank([1, 2, 3, 4, 5, 6]), 2 / 64)
        # n = 6, the smaller sum 3: subsets of {1..6} with sum <= 3 are {}, 1, 2, 3, 12: 5 of 64, both ends.
        self.assertAlmostEqual(stats.signed_rank([-1, -2, 3, 4, 5, 6]), 10 / 64)
        self.assertEqual(stats.signed_rank([0, 0]), 1)
        self.assertEqual(stats.signed_rank([1, -1]), 1)

    def test_holm(self):
        self.assertEqual(stats.holm([0.04, 0.001, 0.03]), [False, True, False])
        self.assertEqual(stats.holm([]), [])


class Rows(unittest.TestCase):
    def test_the_file_is_right(self):
        groups, table = rows.read(str(BENCH / "rows.ini"))
        self.assertEqual({r.group for r in table}, set(groups))
        self.assertEqual(len({r.name for r in table}), len(table))

    def refused(self, text, word):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "rows.ini"
            path.write_text(text)
            with self.assertRaisesRegex(rows.BadRows, word):
                rows.read(str(path))

    def test_mistakes_are_named(self):
        self.refused("[group g]\ntitle = G\n[r]\ngroup = g\nrun = x\n", "row r has no why")
        self.refused("[r]\ngroup = g\nrun = x\nwhy = y\n", "group g, which there is not")
        self.refused("[group g]\ntitle = G\n[r]\ngroup = g\nrun = x\nwhy = y\nspeed = 3\n", "unknown key speed")
        self.refused("[r]\n[r]\n", "already exists")

    def test_choice(self):
        _, table = rows.read(str(BENCH / "rows.ini"))
        self.assertEqual([r.name for r in rows.choose(table, ["sh-l*", "larson"])], ["larson", "sh-lifo"])
        with self.assertRaisesRegex(rows.BadRows, "nonsense is no row"):
            rows.choose(table, ["nonsense"])


class Runs(unittest.TestCase):
    """Against a build directory of shell scripts that stand for the programs."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def script(self, name, text):
        path = Path(self.directory.name) / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def run_row(self, text, **keys):
        # measure's stand-in: runs the program (behind -l LIBRARY FD --) and says what it used.
        self.script("measure", 'fd=$3; shift 4; "$@"; s=$?\n'
                    'eval "printf \'user_ns 5\\nsys_ns 1\\nwall_ns 9\\nrss_bytes 4\\nfaults 2\\nstatus %d\\n\' $s >&$fd"\n')

        class NoInputs:
            def prepare(self, row):
                pass

        row = rows.Row(name="r", group="g", why="w", run=[self.script("program", text)], **keys)
        return runner.Runner({"bench": self.directory.name}, NoInputs()).run(row, allocators.Allocator("a", "", ""))

    def test_figures_and_results(self):
        usage, results = self.run_row('echo "operations 12 count"; echo \'  "iterations": 3.5,\'; echo "a b c"')
        self.assertEqual((usage["user_ns"], usage["faults"]), (5, 2))
        self.assertEqual(results, {"operations": (12.0, "count"), "iterations": (3.5, "")})

    def test_failures_say_why(self):
        for text, word in (("echo bad >&2; exit 3", "ends with 3: bad"), ("kill -SEGV $$", "SIGSEGV"),
                           ("echo too little >&2; exit 77", "too little")):
            with self.assertRaisesRegex(runner.Failed, word):
                self.run_row(text)

    def test_a_missing_result_is_a_failure(self):
        with self.assertRaisesRegex(runner.Failed, "does not print steady"):
            self.run_row("echo nothing", result="steady")

    def test_different_output_is_a_failure(self):
        row = rows.Row(name="r", group="g", why="w", run=["x"], same_output=True)
        judge = runner.Runner({}, None)
        judge.compare_output(row, allocators.Allocator("a", "", ""), b"1")
        judge.compare_output(row, allocators.Allocator("b", "", ""), b"1")
        with self.assertRaisesRegex(runner.Failed, "something else than under a"):
            judge.compare_output(row, allocators.Allocator("c", "", ""), b"2")


@unittest.skipUnless(os.environ.get("INK_BUILDDIR"), "needs a build: INK_BUILDDIR")
class Command(unittest.TestCase):
    """bench/compare as people call it."""

    def compare(self, *arguments):
        return subprocess.run([str(BENCH / "compare"), *arguments], capture_output=True, text=True, check=False)

    def test_errors_are_one_sentence(self):
        for arguments, word in (
                (["nonsense"], "nonsense is no row"),
                (["--row", "larson", "x=/nonexistent.so"], "does not serve malloc"),
                (["larson", "a=" + sys.executable], "does not serve malloc"),
                (["larson", "system", "system"], "same name"),
                (["larson", "system", "--json", "/nonexistent/x"], "/nonexistent/x: No such file")):
            done = self.compare(*arguments)
            self.assertIn(word, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertNotEqual(done.returncode, 0)

    def test_one_row(self):
        done = self.compare("--rounds", "2", "larson", "limit", "inkalloc", "system", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = json.loads(done.stdout)
        self.assertEqual([r["name"] for r in whole["rows"]], ["larson", "limit"])
        for row in whole["rows"]:
            for cell in row["cells"].values():
                self.assertEqual(len(cell["cpu"]["values"]), 2)
                self.assertGreater(cell["rss"]["median"], 1 << 20)
        self.assertEqual(done.stderr, "")

    def test_python_does_not_weigh_on_small_programs(self):
        done = self.compare("--rounds", "1", "origin-1", "system", "--json", "-")
        rss = json.loads(done.stdout)["rows"][0]["cells"]["system"]["rss"]["median"]
        self.assertLess(rss, 6 << 20)

    def test_a_base_that_fails_is_not_hidden(self):
        # The row divides by what the program does not print.
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory) / "bench"
            shutil.copytree(BENCH, copy)
            rows_file = copy / "rows.ini"
            text = rows_file.read_text()
            rows_file.chmod(0o644)
            rows_file.write_text(text + "\n[bad]\ngroup = field\nrun = {bench}/work_origin 1\nper = nothing\nwhy = w\n")
            done = subprocess.run([str(copy / "compare"), "--rounds", "1", "bad", "origin-1", "system"],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "compare: system failed in bad\n")

    def test_list(self):
        self.assertIn("larson", self.compare("--list").stdout)


if __name__ == "__main__":
    unittest.main()
