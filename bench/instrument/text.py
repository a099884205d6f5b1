"""The result as a table for a terminal."""

MARKS = {"base": " ", "faster": "+", "slower": "-", "same": "=", "unclear": "?"}


def quantity(value, unit):
    """Four characters of figure and a unit."""
    steps = [("ns", 1e3), ("µs", 1e3), ("ms", 1e3), ("s ", float("inf"))]
    if unit == "bytes":
        steps = [("B", 1024), ("KiB", 1024), ("MiB", 1024), ("GiB", float("inf"))]
    for name, size in steps:
        if value < size:
            return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {name}"
        value /= size
    return str(value)


def cell_text(cell, metric, unit):
    m = cell[metric]
    half = (m["ratio_high"] - m["ratio_low"]) / 2
    return f"{quantity(m['median'], unit):>8} {m['ratio']:5.2f}±{half:4.2f} {MARKS[cell['verdict']]}"


def table(result, metric, unit):
    names = [a["name"] for a in result["allocators"]]
    width = max(20, *(len(n) + 2 for n in names))
    lines = [f"{metric:16}" + "".join(f"{n:>{width}}" for n in names)]
    for row in result["rows"]:
        cells = (cell_text(row["cells"][n], metric, unit) if n in row["cells"] else "left out" for n in names)
        noise = " noisy" if row["noisy"] and metric == "cpu" else ""
        lines.append(f"{row['name']:16}" + "".join(f"{c:>{width}}" for c in cells) + noise)
    means = {s["allocator"]: s for s in result["summary"] if s["group"] == "all"}
    if means:
        lines.append(f"{'geometric mean':16}" + "".join(f"{means[n][metric]:>{width - 8}.3f}" + " " * 8 for n in names))
    return lines


def remarks(result):
    lines = []
    for row in result["rows"]:
        for name, why in row["left_out"].items():
            lines.append(f"{row['name']} without {name}: {why}")
    for name, why in result["skipped"].items():
        lines.append(f"{name} was not run: {'; '.join(sorted(set(why.values()))) or 'interrupted'}")
    noisy = sum(row["noisy"] for row in result["rows"])
    if noisy:
        lines.append(f"noise: in {noisy} of {len(result['rows'])} rows an interval of CPU time is wider than ±5 %")
    if 3 * noisy > len(result["rows"]):
        lines.append("this machine was too busy to decide: run it again, or with more rounds")
    return lines


def render(result):
    m = result["machine"]
    lines = [
        f"# {m['cpu']}, {m['cpus']} CPUs, {m['memory_bytes'] / 2**30:.0f} GiB, {m['kernel']}, {m['libc']}, {m['compiler']}, "
        f"THP {m['thp']}, a page fault takes {quantity(m['fault_ns'] or 0, 'ns')}, {result['date']}",
        *(f"# {a['name']}: {a['version']}" for a in result["allocators"]),
        f"# {result['rounds']} rounds; median, ratio to the row's best ± half its 95 % interval;",
        f"# against {result['base']}: + faster, - slower, = same within 3 %, ? not decided",
        "", *table(result, "cpu", "ns"), "", *table(result, "rss", "bytes"), "", *remarks(result),
    ]
    return "\n".join(lines)
