"""Tests of the report: python3 -m unittest discover -s bench/instrument"""
import copy
import json
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Dict, List, Optional

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from instrument import report  # noqa: E402
from instrument import report_data as data  # noqa: E402
from instrument import report_tables as tables  # noqa: E402

try:
    import matplotlib  # noqa: F401

    DRAWS = True
except ImportError:
    DRAWS = False

VOID = {"meta", "link", "br", "hr", "img", "input"}
LOADS = ("src", "href", "xlink:href", "data", "srcset", "poster", "action")
NAMES = ["inkalloc", "system", 'odd <b>"&|$x']


def stat(median: float, best: float, unit: str = "") -> Dict[str, Any]:
    low, high = 0.98 * median, 1.02 * median
    made: Dict[str, Any] = {
        "median": median,
        "low": low,
        "high": high,
        "values": [low, median, high],
    }
    if unit:
        return {**made, "unit": unit}
    return {**made, "ratio": median / best, "ratio_low": low / best, "ratio_high": high / best}


def cell(factor: float, results: Dict[str, float]) -> Dict[str, Any]:
    """A cell whose figures are factor times those of the row's best."""
    made: Dict[str, Any] = {"verdict": "base" if factor == 1 else "slower", "instructions": None}
    for measure, best in (("cpu", 2e6), ("wall", 3e6), ("rss", 4e7), ("faults", 900.0)):
        made[measure] = stat(best * factor, best)
    made["results"] = {key: stat(value * factor, value, "ns") for key, value in results.items()}
    return made


def row(name: str, group: str, *keys: str, factors: Optional[List[float]] = None) -> Dict[str, Any]:
    results = {key: 10.0 * (i + 1) for i, key in enumerate(keys)}
    cells = {n: cell(f, results) for n, f in zip(NAMES, factors or [1.0, 1.5, 1.2])}
    return {
        "name": name,
        "group": group,
        "why": "Because | of <this> & $that$.",
        "command": "x",
        "cpu_unit": "ns",
        "per": "process",
        "noisy": name == "larson",
        "left_out": {},
        "best": min(cells, key=lambda n: cells[n]["cpu"]["median"]),
        "cells": cells,
    }


def small_result() -> Dict[str, Any]:
    latency = [f"{call}_{q}" for call in ("malloc", "free") for q in ("p50", "p99", "p999", "max")]
    rows = [
        row("simple-8", "benchtests"),
        row("simple-64", "benchtests"),
        row("thread-1", "benchtests", "time_per_iteration"),
        row("thread-8", "benchtests", "time_per_iteration"),
        row("larson", "field", factors=[1.3, 1.0, 1.1]),
        row('a "<row>" & | more', "field"),
        row("heap-1", "heap", "steady"),
        row("heap-1024", "heap", "steady"),
        row("latency", "latency", *latency),
        row("limit", "limit", "malloc_pair", "inline_pair"),
    ]
    del rows[5]["cells"]["system"]
    rows[5]["left_out"]["system"] = "exit code 139"
    return {
        "format": "inkalloc-compare 1",
        "date": "2026-11-30T22:00:00Z",
        "command": "bench/compare",
        "rounds": 15,
        "seconds": 1800,
        "machine": {"cpu": "A <CPU>", "cpus": 2, "memory_bytes": 25e9},
        "base": "inkalloc",
        "groups": [{"name": "benchtests", "title": "glibc's benchtests"}],
        "allocators": [{"name": n, "library": "", "version": "1"} for n in NAMES],
        "rows": rows,
        "summary": [],
        "instructions": {"loops": ["pair"], "figures": {n: [50.0] for n in NAMES}},
        "shared": {"rows": {"larson": {"operations": 2e6, "rmw": 500, "retries": 3}}},
    }


def only(result: Dict[str, Any], names: List[str], rows: int) -> Dict[str, Any]:
    """The result as if only these allocators and rows had been measured."""
    made = copy.deepcopy(result)
    for key in ("summary", "instructions", "shared", "groups", "machine"):
        made.pop(key)
    made["rows"] = made["rows"][:rows]
    made["allocators"] = [a for a in made["allocators"] if a["name"] in names]
    for one in made["rows"]:
        one["cells"] = {n: c for n, c in one["cells"].items() if n in names}
    return made


class Page(HTMLParser):
    """Notes what is wrong with a page's tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: List[str] = []
        self.ids: List[str] = []
        self.loads: List[str] = []
        self.tags: List[str] = []
        self.heads_without_scope = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        given = dict(attrs)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "th" and "scope" not in given:
            self.heads_without_scope += 1
        self.loads += [given[key] for key in LOADS if key in given]

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes nothing")


@unittest.skipUnless(DRAWS, "needs matplotlib")
class HtmlTest(unittest.TestCase):
    def page(self, result: Dict[str, Any]) -> Page:
        text = report.html_page(result)
        page = Page(text)
        self.assertEqual(page.open, [])
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertEqual(page.heads_without_scope, 0)
        for load in page.loads:  # a page that loads nothing refers only to itself
            self.assertTrue(load.startswith("#") and load[1:] in page.ids, load)
        for address in re.findall(r"url\(([^)]*)\)", text):
            self.assertIn(address.strip("\"'")[1:], page.ids)
        self.assertNotIn("@import", text)
        self.assertNotIn("script", page.tags)
        self.assertIsNone(re.search("#fe0[12]", text), "a sentinel colour is left")
        self.assertEqual(page.tags.count("table"), page.tags.count("caption"))
        return page

    def test_whole(self) -> None:
        result = small_result()
        page = self.page(result)
        # Two measures over five groups, summary, threads, simple, heap, two of latency.
        self.assertEqual(page.tags.count("svg"), 2 * 5 + 6)

    def test_reproducible(self) -> None:
        result = only(small_result(), NAMES, 3)
        self.assertEqual(report.html_page(result), report.html_page(copy.deepcopy(result)))

    def test_two_allocators(self) -> None:
        self.page(only(small_result(), NAMES[:2], 3))

    def test_one_allocator(self) -> None:
        self.page(only(small_result(), NAMES[:1], 10))

    def test_null_figures(self) -> None:
        result = small_result()
        result.update(summary=None, instructions=None, shared=None, machine=None, groups=None)
        for one in result["rows"]:
            for made in one["cells"].values():
                made.update(faults=None, wall={"median": None}, results=None)
            one["cells"]["system"] = {}
        self.page(result)

    def test_dollar_is_no_mathematics(self) -> None:
        self.assertIn('odd &lt;b&gt;"&amp;|$x', report.html_page(only(small_result(), NAMES, 2)))


class MarkdownTest(unittest.TestCase):
    def check(self, result: Dict[str, Any]) -> str:
        text = report.markdown_page(result)
        columns: Optional[int] = None
        for line in text.splitlines():
            if not line.startswith("|"):
                columns = None
                continue
            count = len(re.findall(r"(?<!\\)\|", line))
            self.assertEqual(count, columns or count, line)
            columns = count
        self.assertNotIn("<b>", text)
        return text

    def test_all_shapes(self) -> None:
        for names, rows in ((NAMES, 10), (NAMES[:2], 3), (NAMES[:1], 10)):
            self.check(only(small_result(), names, rows))

    def test_whole(self) -> None:
        text = self.check(small_result())
        self.assertIn("exit code 139", text)
        self.assertIn("250", text)  # 500 read-modify-writes of 2 million operations


class WordsTest(unittest.TestCase):
    def test_loss_is_told(self) -> None:
        opening, phrases = tables.loss_sentence(small_result(), "cpu")
        self.assertIn("loses 1 of 10 rows", opening)
        self.assertEqual(phrases, ["larson≈ 1.30 (system is best)"])

    def test_near_loss_is_none(self) -> None:
        result = small_result()
        result["rows"][4] = row("larson", "field", factors=[1.06, 1.0, 1.1])  # from 1.04 on
        self.assertIn("loses no row", tables.loss_sentence(result, "cpu")[0])

    def test_summary(self) -> None:
        result = only(small_result(), NAMES[:2], 3)  # all of 1 against 1.5
        self.assertIn(
            "Over 3 rows inkalloc takes 0.67 times the CPU time", tables.summary_sentence(result)
        )
        self.assertIn("alone", tables.summary_sentence(only(small_result(), NAMES[:1], 3)))

    def test_ratios_are_reckoned(self) -> None:
        result = small_result()
        for made in result["rows"][0]["cells"].values():
            del made["cpu"]["ratio"]
        found = data.stat(result["rows"][0], "system", "cpu")
        assert found and found.ratio and found.ratio_low
        self.assertAlmostEqual(found.ratio, 1.5)
        self.assertAlmostEqual(found.ratio_low, 1.47)

    def test_figures(self) -> None:
        self.assertEqual(data.time_text(1.2345e6), "1.23 ms")
        self.assertEqual(data.time_text(0.5), "0.500 ns")
        self.assertEqual(data.bytes_text(25e9), "23.3 GiB")
        self.assertEqual(data.count_text(12345), "12,345")


class CommandTest(unittest.TestCase):
    def run_report(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, str(HERE.parent / "report"), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )

    def test_errors_are_one_sentence(self) -> None:
        with tempfile.TemporaryDirectory() as where:
            bad, other = Path(where, "bad"), Path(where, "other")
            bad.write_text("{")
            other.write_text('{"format": "something"}')
            for path in (bad, other, Path(where, "none"), Path(where)):
                done = self.run_report(str(path), "--markdown", str(Path(where, "out.md")))
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(str(path), done.stderr)

    def test_files_are_merged(self) -> None:
        with tempfile.TemporaryDirectory() as where:
            one, two, out = (str(Path(where, name)) for name in ("1", "2", "out.md"))
            whole = small_result()
            Path(one).write_text(json.dumps({**whole, "rows": whole["rows"][:4]}))
            Path(two).write_text(json.dumps({**whole, "rows": whole["rows"][4:]}))
            self.assertEqual(self.run_report(one, two, "--markdown", out).returncode, 0)
            self.assertIn("all rows, 10 rows", Path(out).read_text("utf-8"))
            self.assertIn("more than one", self.run_report(one, one, "--markdown", out).stderr)


if __name__ == "__main__":
    unittest.main()
