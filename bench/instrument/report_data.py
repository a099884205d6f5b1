"""Reads a result of bench/compare for the report: lookups that survive what is missing, and
numbers as text.

A result is the JSON of format "inkalloc-compare 1".  An allocator may be absent, a row may leave
one out, a figure may be null: a lookup then answers None, and the report shows a dash with the
reason where there is one.
"""
import math
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

FORMAT = "inkalloc-compare 1"
LOSS = 1.05  # a loss is an interval that lies wholly above this ratio to the row's best
NOISY_SIGN = "≈"

Result = Dict[str, Any]
Row = Dict[str, Any]


class Stat(NamedTuple):
    """A median with its 95 % interval, and the same as a ratio to the row's best if it has one."""

    median: float
    low: float
    high: float
    ratio: Optional[float]
    ratio_low: Optional[float]
    ratio_high: Optional[float]


class Loss(NamedTuple):
    """A row that the base allocator loses."""

    row: Row
    stat: Stat
    best: str


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def wrong_with(result: Any) -> Optional[str]:
    """What keeps this from being a result, in a few words; None if nothing does."""
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        return f'its format is not "{FORMAT}"'
    if not isinstance(result.get("rows"), list) or not result["rows"]:
        return "it has no rows"
    for row in result["rows"]:
        if not isinstance(row, dict) or "name" not in row or not isinstance(row.get("cells"), dict):
            return "a row lacks its name or its cells"
    return None


def allocators(result: Result) -> List[str]:
    """Names in the result's order; one that only cells know comes last."""
    names = [a["name"] for a in result.get("allocators") or []]
    for row in result["rows"]:
        names += [name for name in row["cells"] if name not in names]
    measured = {name for row in result["rows"] for name in row["cells"]}
    measured |= {name for row in result["rows"] for name in row.get("left_out") or {}}
    return [name for name in names if name in measured]


def base(result: Result) -> str:
    names = allocators(result)
    wanted = result.get("base")
    return wanted if wanted in names or not names else names[0]


def others(result: Result) -> List[str]:
    return [name for name in allocators(result) if name != base(result)]


def series_index(result: Result) -> Dict[str, int]:
    """Which colour and marker an allocator gets: inkalloc (or else the base) always has 0."""
    names = allocators(result)
    first = "inkalloc" if "inkalloc" in names else base(result)
    ordered = [name for name in names if name == first] + [name for name in names if name != first]
    return {name: index for index, name in enumerate(ordered)}


def groups(result: Result) -> List[Tuple[str, str, List[Row]]]:
    """(name, title, rows) of every group that has rows."""
    titles = {g["name"]: g.get("title") or g["name"] for g in result.get("groups") or []}
    for row in result["rows"]:
        titles.setdefault(row.get("group", ""), row.get("group") or "other")
    found = []
    for name, title in titles.items():
        rows = [row for row in result["rows"] if row.get("group", "") == name]
        if rows:
            found.append((name, title, rows))
    return found


def rows_named(result: Result, prefix: str) -> List[Tuple[int, Row]]:
    """Rows such as heap-32, by the number after the prefix."""
    found = []
    for row in result["rows"]:
        tail = row["name"][len(prefix) :]
        if row["name"].startswith(prefix) and tail.isdigit():
            found.append((int(tail), row))
    return sorted(found, key=lambda pair: pair[0])


def plain_stat(raw: Any) -> Optional[Stat]:
    """A Stat of a figure as it stands in the JSON."""
    if not isinstance(raw, dict) or not is_number(raw.get("median")):
        return None
    median = raw["median"]
    low, high = (raw[k] if is_number(raw.get(k)) else median for k in ("low", "high"))
    ratios = [
        raw[k] if is_number(raw.get(k)) else None for k in ("ratio", "ratio_low", "ratio_high")
    ]
    if ratios[0] is not None:
        ratios = [ratios[0] if r is None else r for r in ratios]
    return Stat(median, low, high, *ratios)


def stat(row: Row, name: str, measure: str) -> Optional[Stat]:
    """One allocator's figure in a row; its ratio is reckoned here if the JSON has none."""
    found = plain_stat((row["cells"].get(name) or {}).get(measure))
    if found is None or found.ratio is not None:
        return found
    medians = [plain_stat((cell or {}).get(measure)) for cell in row["cells"].values()]
    least = min(m.median for m in medians if m)
    if least <= 0:  # a row without a single fault has no ratios
        return found
    return found._replace(
        ratio=found.median / least, ratio_low=found.low / least, ratio_high=found.high / least
    )


def result_stat(row: Row, name: str, key: str) -> Optional[Stat]:
    return plain_stat(((row["cells"].get(name) or {}).get("results") or {}).get(key))


def result_keys(row: Row) -> List[str]:
    keys: List[str] = []
    for cell in row["cells"].values():
        keys += [key for key in (cell or {}).get("results") or {} if key not in keys]
    return keys


def result_unit(row: Row, key: str) -> str:
    for cell in row["cells"].values():
        unit = (((cell or {}).get("results") or {}).get(key) or {}).get("unit")
        if unit:
            return str(unit)
    return ""


def curve_figure(rows: List[Row], preferred: str = "") -> Tuple[str, str]:
    """Which figure tells of a family of rows: (name of a result or "" for CPU time, label)."""
    shared = [k for k in result_keys(rows[0]) if all(k in result_keys(row) for row in rows)]
    times = [k for k in shared if result_unit(rows[0], k) == "ns"]
    per = str(rows[0].get("per") or "process")
    for key in [k for k in times if k in (preferred, per)] + (times if len(times) == 1 else []):
        return key, key.replace("_", " ")
    return "", "CPU time " + ("of the process" if per == "process" else "per " + per)


def curve_stat(row: Row, name: str, key: str) -> Optional[Stat]:
    return result_stat(row, name, key) if key else stat(row, name, "cpu")


def best_of(row: Row, measure: str) -> Optional[str]:
    """The allocator with the row's least figure; of CPU time it is what the JSON says."""
    if measure == "cpu" and stat(row, row.get("best") or "", "cpu"):
        return row["best"]
    found = {name: stat(row, name, measure) for name in row["cells"]}
    known = {name: s.median for name, s in found.items() if s}
    return min(known, key=lambda name: known[name]) if known else None


def geometric_mean(values: Iterable[Optional[float]]) -> Optional[float]:
    known = [v for v in values if v is not None and v > 0]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None


def mean_ratio(rows: List[Row], name: str, measure: str) -> Tuple[Optional[float], int]:
    """(geometric mean of the ratio to the row's best, rows that went into it)."""
    stats = [stat(row, name, measure) for row in rows]
    ratios = [s.ratio for s in stats if s and s.ratio]
    return geometric_mean(ratios), len(ratios)


def group_mean(result: Result, group: str, name: str, measure: str) -> Tuple[Optional[float], int]:
    """The JSON's summary, or the same reckoned from the rows if it has none."""
    for entry in result.get("summary") or []:
        if (entry.get("group"), entry.get("allocator")) == (group, name) and is_number(
            entry.get(measure)
        ):
            return entry[measure], int(entry.get("rows") or 0)
    return mean_ratio(
        [r for r in result["rows"] if group in ("all", r.get("group", ""))], name, measure
    )


def against(result: Result, other: str, measure: str) -> Tuple[Optional[float], int]:
    """(geometric mean of base's median over the other's, rows that went into it)."""
    quotients = []
    for row in result["rows"]:
        mine, its = stat(row, base(result), measure), stat(row, other, measure)
        if mine and its and mine.median > 0 and its.median > 0:
            quotients.append(mine.median / its.median)
    return geometric_mean(quotients), len(quotients)


def against_best_other(result: Result, measure: str) -> Tuple[Optional[float], int]:
    """The same against whichever other allocator is best in each row."""
    name, quotients = base(result), []
    for row in result["rows"]:
        mine = stat(row, name, measure)
        others = [stat(row, n, measure) for n in row["cells"] if n != name]
        medians = [o.median for o in others if o and o.median > 0]
        if mine and mine.median > 0 and medians:
            quotients.append(mine.median / min(medians))
    return geometric_mean(quotients), len(quotients)


def losses(result: Result, measure: str) -> List[Loss]:
    """Rows where the base's interval lies wholly above LOSS, the worst first."""
    found = []
    for row in result["rows"]:
        mine, best = stat(row, base(result), measure), best_of(row, measure)
        if mine and best and best != base(result) and (mine.ratio_low or 0) > LOSS:
            found.append(Loss(row, mine, best))
    return sorted(found, key=lambda loss: -(loss.stat.ratio or 0))


def figures(value: float) -> str:
    """Three significant digits, without an exponent."""
    size = abs(value)
    digits = 0 if size >= 100 or size == 0 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:,.{digits}f}"


def scaled(value: float, steps: List[Tuple[float, str]]) -> str:
    """The value in the largest unit that leaves at least 1 before the point."""
    for factor, unit in steps:
        if abs(value) >= factor:
            return f"{figures(value / factor)} {unit}"
    return f"{figures(value)} {steps[-1][1]}"


def time_text(ns: float) -> str:
    return scaled(ns, [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")])


def bytes_text(count: float) -> str:
    return scaled(count, [(2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1, "B")])


def count_text(count: float) -> str:
    return f"{count / 1e6:,.2f} M" if count >= 1e6 else f"{count:,.0f}"


def unit_text(value: float, unit: str) -> str:
    if unit == "ns":
        return time_text(value)
    if unit in ("bytes", "B"):
        return bytes_text(value)
    return f"{figures(value)} {unit}".rstrip()


def ratio_text(ratio: Optional[float]) -> str:
    if ratio is None:
        return "–"
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"
