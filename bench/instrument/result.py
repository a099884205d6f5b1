"""From runs to the result that tables, pages and JSON are made of; its format is described in docs/benchmarks.md."""

import fnmatch
import os
from statistics import median

from . import runner, stats

FORMAT = "inkalloc-compare 1"
# Fewer rounds than these decide nothing.
ROUNDS_TO_DECIDE = 8
# But what is so many times slower in each of three is slower.
GAP = 1.5
METRICS = ("cpu", "wall", "rss", "faults")


def figures(row, run):
    """The metrics of one run."""
    usage, results = run
    share = results[row.per][0] if row.per else 1.0
    cpu = (usage["user_ns"] + usage["sys_ns"]) / share
    if row.result:
        cpu = stats.geometric_mean([results[name][0] for name in fnmatch.filter(results, row.result)])
    rss = results[row.resident][0] if row.resident else usage["rss_bytes"]
    return {"cpu": cpu, "wall": usage["wall_ns"] / share, "rss": rss, "faults": usage["faults"]}


def rounded(value):
    """Six digits: more are noise, and fill a file that people keep."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def summary_of(values):
    values = [rounded(v) for v in values]
    low, high = stats.interval(stats.medians(values))
    return {"median": rounded(median(values)), "low": rounded(low), "high": rounded(high), "values": values}


def add_ratios(cells, metric):
    """To the best of the row; the intervals are of the quotient, its rounds kept together where both have as many."""
    best = min(cells, key=lambda name: cells[name][metric]["median"])
    base = stats.medians(cells[best][metric]["values"])
    for cell in cells.values():
        own = stats.medians(cell[metric]["values"])
        bottom = cells[best][metric]["median"]
        cell[metric]["ratio"] = rounded(cell[metric]["median"] / bottom) if bottom else 1.0
        ratios = [a / b if b else 1.0 for a, b in zip(own, base)]
        cell[metric]["ratio_low"], cell[metric]["ratio_high"] = map(rounded, stats.interval(ratios))
    return best


def results_of(runs):
    names = [n for n in runs[0][1] if all(n in run[1] for run in runs)]
    return {n: {**summary_of([run[1][n][0] for run in runs]), "unit": runs[0][1][n][1]} for n in names}


def against(base, cell):
    """The ratio of CPU time to the base's: the median of the rounds' own ratios, its interval, and how probable it is by chance.
    Rounds are as many as the one with fewer has."""
    ratios = [a / b for a, b in zip(cell["cpu"]["values"], base["cpu"]["values"])]
    low, high = stats.interval(stats.medians(ratios))
    return median(ratios), low, high, stats.signed_rank([r - 1 for r in ratios]), len(ratios)


def is_noisy(cell):
    cpu = cell["cpu"]
    return (cpu["high"] - cpu["low"]) / 2 > stats.NOISY * cpu["median"]


def row_result(row, runs, left_out, words):
    """None when no allocator has run."""
    whole = {name: list_ for name, list_ in runs.items() if list_ and name not in left_out}
    if not whole:
        return None
    cells = {}
    for name, list_ in whole.items():
        per_run = [figures(row, run) for run in list_]
        cells[name] = {metric: summary_of([f[metric] for f in per_run]) for metric in METRICS}
        cells[name].update(rounds=len(list_), results=results_of(list_), instructions=None)
    fastest = add_ratios(cells, "cpu")
    for metric in METRICS[1:]:
        add_ratios(cells, metric)
    return {
        "name": row.name, "group": row.group, "why": row.why, "command": " ".join(words),
        "cpu_unit": "ns", "per": row.result or row.per or "process", "best": fastest, "left_out": left_out, "cells": cells,
        "noisy": any(map(is_noisy, cells.values())),
    }


def decide(found, significant):
    """The word for what against has found; of few rounds only a gap that leaves no room for doubt is called one."""
    ratio, low, high, _, rounds = found
    if rounds >= ROUNDS_TO_DECIDE:
        return stats.verdict(significant, ratio, low, high)
    if rounds >= runner.SLOW_ROUNDS and (low > GAP or high < 1 / GAP):
        return "slower" if ratio > 1 else "faster"
    return "unclear"


def add_verdicts(rows, base):
    """All rows of one allocator are one family: of sixty true nothings, one in twenty would look like something."""
    for row in rows:
        if base in row["cells"]:
            row["cells"][base]["verdict"] = "base"
    for name in {name for row in rows for name in row["cells"]} - {base}:
        cells = [(row["cells"][name], row["cells"].get(base)) for row in rows if name in row["cells"]]
        for cell, _ in cells:
            cell["verdict"] = "unclear"
        both = [(cell, against(other, cell)) for cell, other in cells if other]
        for (cell, found), significant in zip(both, stats.holm([found[3] for _, found in both])):
            cell["verdict"] = decide(found, significant)
            cell["against_base"] = dict(zip(("ratio", "low", "high"), found))


def summarise(rows, groups, names):
    """Geometric means of the ratios to the row's best, over the rows that every allocator has run."""
    summary = []
    for group in [*groups, "all"]:
        mine = [r for r in rows if group in ("all", r["group"]) and all(n in r["cells"] for n in names)]
        for name in names:
            line = {"group": group, "allocator": name, "rows": len(mine)}
            for metric in METRICS:
                line[metric] = stats.geometric_mean([r["cells"][name][metric]["ratio"] for r in mine])
            if mine:
                summary.append(line)
    return summary


def build(groups, rows, runs, left_out, allocators, about):
    """about: date, command, rounds, seconds, machine."""
    names = [a.name for a in allocators]
    found = [row_result(row, runs[row.name], left_out[row.name], row.run) for row in rows]
    found = [row for row in found if row]
    add_verdicts(found, names[0])
    return {
        "format": FORMAT, **about, "base": names[0],
        "allocators": [
            {"name": a.name, "library": os.path.basename(a.library), "version": a.version} for a in allocators],
        "groups": [{"name": n, "title": t} for n, t in groups.items() if any(r["group"] == n for r in found)],
        "rows": found, "summary": summarise(found, groups, names),
        "skipped": {r.name: left_out[r.name] for r in rows if not any(r.name == f["name"] for f in found)},
    }
