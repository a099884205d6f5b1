"""The report's sentences and tables, apart from how they are written down: report.py makes HTML
and Markdown of them.
"""
import re
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from . import report_data as data
from .report_data import Result, Row, Stat

VERDICTS = {"faster": "▼", "slower": "▲", "same": "=", "unclear": "?"}
LATENCY = re.compile(r"(malloc|free)_(p\d+|max)$")
MEASURES: Dict[str, Tuple[str, Callable[[float], str]]] = {
    "cpu": ("CPU time", data.time_text),
    "wall": ("Wall time", data.time_text),
    "rss": ("Peak memory", data.bytes_text),
    "faults": ("Page faults", data.count_text),
}


class Cell(NamedTuple):
    main: str
    detail: str = ""
    best: bool = False
    verdict: str = ""
    missing: str = ""  # why there is no figure


class Line(NamedTuple):
    """A table's line: its header cell, a note small below that, the figures, and the reason."""

    head: str
    cells: List[Cell]
    note: str = ""
    why: str = ""
    noisy: bool = False


class Table(NamedTuple):
    key: str
    caption: str
    head: str
    columns: List[str]
    lines: List[Line]


class Section(NamedTuple):
    """The plots that belong to a section are plots.py's, by the section's key."""

    key: str
    title: str
    intro: List[str]
    tables: List[Table]


def listed(words: List[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def summary_sentence(result: Result) -> str:
    name, others, total = data.base(result), data.others(result), len(result["rows"])
    if not others:
        rows = f"{total} row{'s' * (total != 1)}"
        return f"{name} was measured alone, in {rows}: nothing to compare it with."
    cpu, count = data.against_best_other(result, "cpu")
    rss, _ = data.against_best_other(result, "rss")
    parts = []
    if cpu is not None:
        parts.append(f"{data.ratio_text(cpu)} times the CPU time")
    if rss is not None:
        parts.append(f"{data.ratio_text(rss)} times the peak memory")
    if not parts:
        return f"{name} shares no row with another allocator: nothing to compare it with."
    rival = others[0] if len(others) == 1 else "the best other allocator of each row"
    return (
        f"Over {count} row{'s' * (count != 1)} {name} takes {listed(parts)} of {rival} "
        "(geometric means; below 1 is better)." + noise_sentence(result)
    )


def noise_sentence(result: Result) -> str:
    """What bench/compare says on a terminal, so that nobody takes the page for more than it is."""
    noisy, total = sum(bool(row.get("noisy")) for row in result["rows"]), len(result["rows"])
    if 3 * noisy <= total:
        return ""
    return f" The machine was too busy to decide: {noisy} of {total} rows are noisy."


def loss_sentence(result: Result, measure: str) -> Tuple[str, List[str]]:
    """What the base loses: an opening, and one phrase a row."""
    what = MEASURES[measure][0]
    found = data.losses(result, measure)
    rule = f"its 95 % interval lies wholly above {data.LOSS:.2f} times the row's best"
    if len(data.allocators(result)) < 2:
        return "", []
    if not found:
        return f"{what}: {data.base(result)} loses no row ({rule} nowhere).", []
    phrases = []
    for loss in found:
        sign = data.NOISY_SIGN if loss.row.get("noisy") else ""
        phrases.append(
            f"{loss.row['name']}{sign} {data.ratio_text(loss.stat.ratio)} ({loss.best} is best)"
        )
    return (
        f"{what}: {data.base(result)} loses {len(found)} of {len(result['rows'])} rows ({rule}):",
        phrases,
    )


def machine_facts(result: Result) -> List[Tuple[str, str]]:
    """What was measured where and how, as pairs of name and value."""
    machine = result.get("machine") or {}
    facts = [
        ("Date", result.get("date")),
        ("CPU", machine.get("cpu")),
        ("CPUs", machine.get("cpus")),
    ]
    if data.is_number(machine.get("memory_bytes")):
        facts.append(("Memory", data.bytes_text(machine["memory_bytes"])))
    facts += [
        ("Kernel", machine.get("kernel")),
        ("C library", machine.get("libc")),
        ("Compiler", machine.get("compiler")),
        ("Transparent huge pages", machine.get("thp")),
    ]
    if data.is_number(machine.get("page_bytes")):
        facts.append(("Page", data.bytes_text(machine["page_bytes"])))
    if data.is_number(machine.get("fault_ns")):
        facts.append(("A page fault takes", data.time_text(machine["fault_ns"])))
    facts.append(("Rounds", result.get("rounds")))
    if data.is_number(result.get("seconds")):
        facts.append(("Took", f"{result['seconds'] / 60:.0f} min"))
    facts.append(("Command", result.get("command")))
    return [(name, str(value)) for name, value in facts if value not in (None, "")]


def versions_table(result: Result) -> Table:
    lines = []
    for entry in result.get("allocators") or []:
        mark = "base" if entry["name"] == data.base(result) else ""
        values = [entry.get("version") or "unknown", entry.get("library") or "none preloaded"]
        lines.append(Line(entry["name"], [Cell(v) for v in values], note=mark))
    return Table("versions", "Allocators", "allocator", ["version", "library"], lines)


def interval_text(low: Optional[float], high: Optional[float]) -> str:
    """Nothing if the interval is narrower than what two decimals can show."""
    texts = data.ratio_text(low), data.ratio_text(high)
    return "" if texts[0] == texts[1] else "–".join(texts)


def measure_cell(result: Result, row: Row, name: str, measure: str) -> Cell:
    found = data.stat(row, name, measure)
    if found is None:
        return Cell("—", missing=(row.get("left_out") or {}).get(name) or "not measured")
    value = MEASURES[measure][1](found.median)
    # A row of one allocator has no best worth a mark.
    best = len(row["cells"]) > 1 and name == data.best_of(row, measure)
    verdict = ""
    if measure == "cpu" and name != data.base(result):
        verdict = str((row["cells"].get(name) or {}).get("verdict") or "")
        verdict = verdict if verdict in VERDICTS else ""
    if found.ratio is None:
        return Cell(value, "", best, verdict)
    detail = ", ".join(filter(None, [value, interval_text(found.ratio_low, found.ratio_high)]))
    return Cell(data.ratio_text(found.ratio), detail, best, verdict)


def measure_table(result: Result, measure: str, group: str, title: str, rows: List[Row]) -> Table:
    names, lines = data.allocators(result), []
    for row in rows:
        per = str(row.get("per") or "process")
        timed = measure in ("cpu", "wall") and per != "process"
        lines.append(
            Line(
                row["name"],
                [measure_cell(result, row, name, measure) for name in names],
                note="per " + per.replace("_", " ") if timed else "",
                why=str(row.get("why") or "") if measure == "cpu" else "",
                noisy=bool(row.get("noisy")),
            )
        )
    return Table(
        f"{measure}-{group}",
        f"{title}: {MEASURES[measure][0].lower().replace('cpu', 'CPU')}",
        "row",
        names,
        lines,
    )


def measure_section(result: Result, measure: str, intro: str) -> Section:
    tables = []
    for group, title, rows in data.groups(result):
        if any(data.stat(row, name, measure) for row in rows for name in row["cells"]):
            tables.append(measure_table(result, measure, group, title, rows))
    return Section(measure, MEASURES[measure][0], [intro], tables)


def mean_cells(pairs: List[Tuple[Optional[float], int]], total: int) -> List[Cell]:
    """Means of one line; one over fewer rows says so, for it is not quite comparable."""
    least = min((mean for mean, _ in pairs if mean), default=None)
    cells = []
    for mean, count in pairs:
        if mean is None:
            cells.append(Cell("—", missing="not measured"))
            continue
        partial = f"{count} of {total} rows" if 0 < count < total else ""
        cells.append(Cell(data.ratio_text(mean), partial, len(pairs) > 1 and mean == least))
    return cells


def summary_table(result: Result, measure: str) -> Table:
    names, lines, all_groups = data.allocators(result), [], data.groups(result)
    for group, title, rows in all_groups:
        pairs = [data.group_mean(result, group, name, measure) for name in names]
        lines.append(
            Line(
                title, mean_cells(pairs, len(rows)), note=f"{len(rows)} row{'s' * (len(rows) != 1)}"
            )
        )
    if len(all_groups) > 1:
        pairs = [data.group_mean(result, "all", name, measure) for name in names]
        total = len(result["rows"])
        lines.append(Line("all rows", mean_cells(pairs, total), note=f"{total} rows"))
    what = MEASURES[measure][0]
    return Table(
        f"summary-{measure}",
        f"{what}, ratio to each row's best, geometric mean",
        "group",
        names,
        lines,
    )


def verdict_count(result: Result, name: str, verdicts: Tuple[str, ...]) -> int:
    cells = [
        row["cells"].get(name) or {} for row in result["rows"] if data.base(result) in row["cells"]
    ]
    return sum(cell.get("verdict") in verdicts for cell in cells)


def duel_table(result: Result) -> Table:
    """The base against each other allocator by itself."""
    name, lines = data.base(result), []
    for other in data.others(result):
        means = [data.against(result, other, measure) for measure in ("cpu", "rss")]
        cells = [Cell(data.ratio_text(mean)) for mean, _ in means]
        for verdicts in (("slower",), ("faster",), ("same", "unclear")):
            cells.append(Cell(str(verdict_count(result, other, verdicts))))
        lines.append(Line(other, cells, note=f"{means[0][1]} row{'s' * (means[0][1] != 1)}"))
    columns = [
        f"{name}'s CPU time over it",
        "memory over it",
        f"rows: slower than {name}",
        "faster",
        "same or unclear",
    ]
    return Table(
        "duels",
        f"{name} against each other allocator, in the rows both have",
        "other",
        columns,
        lines,
    )


def summary_section(result: Result) -> Section:
    tables = [summary_table(result, measure) for measure in ("cpu", "rss", "wall")]
    tables = [t for t in tables if any(not cell.missing for line in t.lines for cell in line.cells)]
    if len(data.allocators(result)) > 1:
        tables.append(duel_table(result))
    return Section(
        "summary", "Summary", ["1.00 would be best in every row; lower is better."], tables
    )


def results_line(row: Row, key: str, names: List[str]) -> Line:
    unit = data.result_unit(row, key)
    stats: Dict[str, Stat] = {}
    for name in names:
        found = data.result_stat(row, name, key)
        if found:
            stats[name] = found
    # Only of a time or a size is less surely better, and an inline_ figure is no allocator's.
    ranked = unit in ("ns", "bytes", "B") and not key.startswith("inline_") and len(stats) > 1
    least = min((s.median for s in stats.values()), default=None) if ranked else None
    cells = []
    for name in names:
        if name not in stats:
            cells.append(Cell("—", missing=(row.get("left_out") or {}).get(name) or "not measured"))
            continue
        one = stats[name]
        low, high = data.unit_text(one.low, unit), data.unit_text(one.high, unit)
        cells.append(
            Cell(
                data.unit_text(one.median, unit),
                "" if low == high else f"{low} – {high}",
                one.median == least,
            )
        )
    return Line(key.replace("_", " "), cells, noisy=bool(row.get("noisy")))


def results_table(
    result: Result, row: Row, keys: List[str], extra: Optional[List[Line]] = None
) -> Table:
    names = data.allocators(result)
    lines = [results_line(row, key, names) for key in keys] + (extra or [])
    why = str(row.get("why") or "")
    return Table(
        f"results-{row.get('group', '')}-{row['name']}",
        f"{row['name']}: {why}" if why else row["name"],
        "figure",
        names,
        lines,
    )


def limit_lines(result: Result, row: Row) -> List[Line]:
    """How far malloc is from the same work done by code compiled into the program."""
    lines = []
    for key in data.result_keys(row):
        loop = key[len("malloc_") :]
        if not key.startswith("malloc_") or "inline_" + loop not in data.result_keys(row):
            continue
        cells = []
        for name in data.allocators(result):
            ours, limit = (data.result_stat(row, name, k) for k in (key, "inline_" + loop))
            if ours and limit and limit.median > 0:
                cells.append(Cell(data.ratio_text(ours.median / limit.median)))
            else:
                cells.append(Cell("—", missing="not measured"))
        lines.append(Line(f"{loop}: malloc over inline", cells))
    return lines


def is_latency(row: Row) -> bool:
    return any(LATENCY.match(key) for key in data.result_keys(row))


def latency_section(result: Result) -> Section:
    tables = [
        results_table(result, row, [k for k in data.result_keys(row) if LATENCY.match(k)])
        for row in result["rows"]
        if is_latency(row)
    ]
    return Section(
        "latency",
        "Latency",
        [
            "Time of single calls: the quantiles of each run, and of these the "
            "median over the rounds."
        ],
        tables,
    )


def limit_section(result: Result) -> Section:
    tables = [
        results_table(result, row, data.result_keys(row), limit_lines(result, row))
        for row in result["rows"]
        if limit_lines(result, row)
    ]
    return Section(
        "limit",
        "The limit",
        [
            "What the same work costs when it is compiled into the program "
            "(inline) instead of called through malloc."
        ],
        tables,
    )


def heap_section(result: Result) -> Section:
    """One line a heap size; the figure of interest is one result, not the process's CPU time."""
    rows = data.rows_named(result, "heap-")
    if not rows:
        return Section("heap", "Size of the heap", [], [])
    key, label = data.curve_figure([row for _, row in rows], "steady")
    names, lines = data.allocators(result), []
    if key:
        for size, row in rows:
            line = results_line(row, key, names)
            lines.append(line._replace(head=f"{size:,} MiB live"))
    tables = (
        [Table("heap-sizes", f"Over the size of the heap: {label}", "heap", names, lines)]
        if lines
        else []
    )
    return Section(
        "heap", "Size of the heap", ["The same work with more and more memory live."], tables
    )


def instruction_section(result: Result) -> Section:
    counted = result.get("instructions") or {}
    loops, by_name = counted.get("loops") or [], counted.get("figures") or {}
    names, lines = [n for n in data.allocators(result) if n in by_name], []
    names += [n for n in by_name if n not in names]
    for index, loop in enumerate(loops):
        values = [by_name[n][index] if index < len(by_name[n] or []) else None for n in names]
        least = min((v for v in values if data.is_number(v)), default=None)
        cells = [
            Cell(f"{v:,.1f}", "", len(names) > 1 and v == least)
            if data.is_number(v)
            else Cell("—", missing="not counted")
            for v in values
        ]
        lines.append(Line(loop, cells))
    tables = (
        [Table("instruction-counts", "Instructions per operation", "loop", names, lines)]
        if lines
        else []
    )
    return Section(
        "instructions",
        "Instructions",
        ["Counted by callgrind: exact, the same on every run, and blind to caches."],
        tables,
    )


def shared_section(result: Result) -> Section:
    lines = []
    for name, counts in ((result.get("shared") or {}).get("rows") or {}).items():
        operations, cells = counts.get("operations") or 0, []
        for key in ("rmw", "retries"):
            known = operations > 0 and data.is_number(counts.get(key))
            cells.append(
                Cell(data.figures(counts[key] / operations * 1e6))
                if known
                else Cell("—", missing="not counted")
            )
        lines.append(Line(name, [Cell(data.count_text(operations))] + cells))
    columns = ["operations", "read-modify-writes per million", "retries per million"]
    tables = (
        [Table("shared-counts", "Atomic operations on shared words", "row", columns, lines)]
        if lines
        else []
    )
    return Section(
        "shared",
        "Shared operations",
        [
            "Atomic read-modify-writes, and how often one had to be tried again, counted in a "
            "bench build of inkalloc."
        ],
        tables,
    )


def other_results_section(result: Result) -> Section:
    """What rows print of themselves and no section above shows."""
    tables = []
    for row in result["rows"]:
        shown = is_latency(row) or limit_lines(result, row) or row["name"].startswith("heap-")
        if data.result_keys(row) and not shown:
            tables.append(results_table(result, row, data.result_keys(row)))
    return Section(
        "others", "What rows print of themselves", ["Figures that the programs print."], tables
    )


def sections(result: Result) -> List[Section]:
    """All of them, in the page's order; one without a table is for the caller to drop."""
    return [
        summary_section(result),
        measure_section(
            result,
            "cpu",
            "User and system time. Ratio to the row's best, then the median and the "
            "ratio's 95 % interval.",
        ),
        measure_section(
            result,
            "rss",
            "The largest resident set. Ratio to the row's best, then the median and the "
            "ratio's 95 % interval.",
        ),
        heap_section(result),
        latency_section(result),
        limit_section(result),
        measure_section(
            result,
            "wall",
            "Time by the clock: of rows with threads it tells what CPU time does not.",
        ),
        measure_section(
            result, "faults", "Minor and major faults of the process, which CPU time includes."
        ),
        instruction_section(result),
        shared_section(result),
        other_results_section(result),
    ]


def reading(result: Result) -> List[Tuple[str, str]]:
    """How to read this: pairs of term and explanation."""
    name, rounds = data.base(result), result.get("rounds")
    times = f"{rounds} rounds" if rounds else "several rounds"
    return [
        (
            "Median",
            f"Every row runs under every allocator in turn, {times} over; a figure is the median "
            "of these runs.",
        ),
        (
            "95 % interval",
            "Found by bootstrap: medians of the runs drawn again with replacement. Left out where "
            "it is narrower than the figures shown.",
        ),
        (
            "Ratio",
            "The median over that of the row's best allocator, so 1.00 is the best and lower is "
            "better. Means of ratios are geometric. The best is chosen after the fact and row by "
            "row: no single allocator is that good.",
        ),
        (
            "★ and bold",
            "The row's best. Its lead may be smaller than the noise; the intervals tell.",
        ),
        (
            "▼ faster, ▲ slower",
            f"The allocator takes less, or more, CPU time than {name}: by 1 % at least, and so "
            "steadily over the rounds that chance is excluded (signed-rank test, corrected for the "
            "number of rows).",
        ),
        (
            "= same, ? unclear",
            f"The interval of the ratio to {name} lies within 3 % of 1; or the runs do not tell.",
        ),
        (
            f"{data.NOISY_SIGN} noisy",
            "The row's runs scatter so much that small differences mean nothing.",
        ),
        ("— dash", "Not measured: the reason stands below it where it is known."),
    ]
