"""The report's plots as SVG text, drawn by matplotlib; nothing else in the project imports it.

A plot is drawn in sentinel colours, which are then replaced by the page's CSS variables: one SVG
serves light and dark.  Text stays text, in the page's font.  Figures are as narrow as a telephone,
so that they need not be shrunk beyond reading; the page sets them in columns.
"""
import html
import math
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import matplotlib

matplotlib.use("svg")

import io  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

from . import report_data as data
from .report_data import Result, Row, Stat  # noqa: E402

WIDTH = 440  # CSS pixels; one is a point of matplotlib's at 72 dpi
TEXT, SMALL = 11.5, 10.5
CHARACTER = 6.8  # a generous width of one at TEXT, for room and overlaps
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
INK, MUTED, GRID, PAPER = "#fe0201", "#fe0202", "#fe0203", "#fe0204"
VARIABLES = {INK: "--ink", MUTED: "--muted", GRID: "--grid", PAPER: "--paper"}
SERIES = [f"#fe01{index:02x}" for index in range(len(MARKERS))]
VARIABLES.update({colour: f"--series-{index}" for index, colour in enumerate(SERIES)})
FINE_TICKS = [1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3]
COARSE_TICKS = [1, 1.5, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 10000]
SETTINGS = {
    "svg.fonttype": "none",
    "font.size": TEXT,
    "font.family": "DejaVu Sans",
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
}


class Plot(NamedTuple):
    caption: str
    svg: str


def literal(text: str) -> str:
    """A name as matplotlib text: a dollar sign must not start mathematics."""
    return text.replace("$", r"\$")


def shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def look(index: int) -> Dict[str, Any]:
    """Colour and marker of a series; the first is the one the page is about."""
    first, turn = index == 0, index % len(MARKERS)
    size = (
        8.5 if first else 7.5 if MARKERS[turn] in "^v*" else 6
    )  # those look smaller than they are
    return {
        "color": SERIES[turn],
        "marker": MARKERS[turn],
        "markersize": size,
        "markeredgecolor": PAPER,
        "markeredgewidth": 0.7,
        "zorder": 20 - index,
    }


def canvas(height: float, left: float, top: float, bottom: float) -> Tuple[Figure, Any]:
    """A figure and its axes, placed in pixels."""
    figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=72)
    box = (
        left / WIDTH,
        bottom / height,
        (WIDTH - left - 14) / WIDTH,
        (height - top - bottom) / height,
    )
    return figure, figure.add_axes(box)


def legend_layout(names: List[str]) -> Tuple[int, float]:
    """(columns, height in pixels) of a legend above the axes."""
    widest = max(len(name) for name in names) * CHARACTER + 34
    columns = max(1, min(len(names), int(WIDTH // widest)))
    return columns, math.ceil(len(names) / columns) * 18 + 8


def add_legend(figure: Figure, axes: Any, result: Result, names: List[str]) -> None:
    index = data.series_index(result)
    handles = [axes.plot([], [], linestyle="none", **look(index[name]))[0] for name in names]
    figure.legend(
        handles,
        [literal(name) for name in names],
        loc="upper left",
        ncol=legend_layout(names)[0],
        fontsize=TEXT,
        handletextpad=0.3,
        columnspacing=1.2,
        borderaxespad=0.2,
        handlelength=1.4,
        labelspacing=0.35,
    )


def styled(svg: str) -> str:
    """Sentinels become variables, and text takes the page's font."""
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    # "font: bold 12px 'DejaVu Sans'" names a font that the page does not have.
    return re.sub(
        r"font: ((?:[a-z]+ |\d+ )?)([\d.]+px) [^;\"]*",
        lambda m: f"font-size: {m[2]}" + (f"; font-weight: {m[1].strip()}" if m[1] else ""),
        svg,
    )


def scoped(svg: str, key: str) -> str:
    """Only what is referred to keeps an id, and that one is of this figure alone."""
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    svg = re.sub(r' id="([^"]*)"', lambda m: f' id="{key}-{m[1]}"' if m[1] in used else "", svg)
    return re.sub(r'(href="#|url\(#)', lambda m: m[1] + key + "-", svg)


def to_svg(figure: Figure, key: str, title: str) -> str:
    """The figure as an element to stand in a page."""
    out = io.StringIO()
    # The salt makes ids reproducible.
    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": key}):
        figure.savefig(
            out,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.S)
    view = re.search(r'viewBox="[^"]*"', svg)
    label = html.escape(title)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{view[0] if view else ""} role="img" aria-label="{label}"><title>{label}</title>'
    )
    body = svg[svg.index(">") + 1 :]
    return re.sub(r"\n\s*", "\n", scoped(styled(head + body), re.sub(r"[^a-z0-9]+", "-", key)))


def ticks_between(low: float, high: float, candidates: List[float], pixels: float) -> List[float]:
    """Candidates on a logarithmic axis whose labels do not touch."""
    chosen: List[float] = []
    scale = pixels / max(math.log(high / low), 1e-9)
    for tick in candidates:
        room = (len(f"{tick:g}") + 1) * CHARACTER
        if low <= tick <= high and (not chosen or math.log(tick / chosen[-1]) * scale >= room):
            chosen.append(tick)
    return chosen


def set_ticks(axis: Any, ticks: List[float], label: Callable[[float], str]) -> None:
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: literal(label(value))))


def short_time(ns: float) -> str:
    """A tick's label: 20 ns, not 20.0 ns."""
    return re.sub(r"\.0+(?= )|(\.\d*?)0+(?= )", lambda m: m[1] or "", data.time_text(ns))


def log_axis(axes: Any, low: float, high: float, pixels: float) -> None:
    """A logarithmic y axis of times, with ticks at 1, 2 and 5 or finer where the range is small."""
    low, high = low / 1.15, high * 1.15
    decades = math.log10(high / low)
    steps = (
        [1, 2, 3, 4, 5, 6, 8]
        if decades < 0.8
        else [1, 2, 3, 5]
        if decades < 1.4
        else [1, 2, 5]
        if decades < 2.2
        else [1]
    )
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    scale = pixels / math.log(high / low)
    chosen: List[float] = []
    for tick in ticks:
        if low <= tick <= high and (not chosen or math.log(tick / chosen[-1]) * scale >= 16):
            chosen.append(tick)
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    set_ticks(axes.yaxis, chosen, short_time)


def dot_plot(result: Result, measure: str, key: str, title: str, rows: List[Row]) -> Optional[str]:
    """Ratio to the row's best: a band a row, in it a dot and an interval an allocator."""
    names = data.allocators(result)
    found = {(i, n): data.stat(row, n, measure) for i, row in enumerate(rows) for n in names}
    stats = [s for s in found.values() if s and s.ratio]
    if not stats:
        return None
    labels = [
        shortened(row["name"] + (" " + data.NOISY_SIGN if row.get("noisy") else ""), 22)
        for row in rows
    ]
    left = max(40, max(map(len, labels)) * CHARACTER + 10)
    top, bottom, band = legend_layout(names)[1], 36, 10 + 4.2 * len(names)
    figure, axes = canvas(top + bottom + band * len(rows), left, top, bottom)
    low = min(1.0, min(s.ratio_low or 1.0 for s in stats)) / 1.03
    high = max(1.2, max(s.ratio_high or 1.0 for s in stats)) * 1.04
    index = data.series_index(result)
    for i in range(0, len(rows), 2):
        axes.axhspan(i - 0.5, i + 0.5, color=GRID, alpha=0.45, linewidth=0)
    axes.axvline(1, color=MUTED, linewidth=1, zorder=1)
    for (i, name), one in found.items():
        if one and one.ratio:
            y = i + ((names.index(name) + 0.5) / len(names) - 0.5) * 0.8
            ends = [
                [one.ratio - (one.ratio_low or one.ratio)],
                [(one.ratio_high or one.ratio) - one.ratio],
            ]
            axes.errorbar(
                [one.ratio], [y], xerr=[[max(0, e[0])] for e in ends], **look(index[name])
            )
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)))
    axes.set_yticklabels([literal(label) for label in labels])
    axes.tick_params(axis="y", length=0)
    ticks = FINE_TICKS if high < FINE_TICKS[-1] else COARSE_TICKS
    set_ticks(axes.xaxis, ticks_between(low, high, ticks, WIDTH - left - 14), "{:g}".format)
    axes.set_xlabel("times the row's best (lower is better)")
    add_legend(figure, axes, result, names)
    return to_svg(figure, key, title)


def label_places(
    points: List[Tuple[float, float]], names: List[str], size: Tuple[float, float]
) -> List[Tuple[float, float, str]]:
    """Where labels go, as (dx, dy, alignment): beside their points, clear of all others."""
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in points]
    places = []
    for (x, y), name in zip(points, names):
        wide = len(name) * CHARACTER
        options = [(9.0, 0.0, "left"), (-9.0, 0.0, "right")]
        options += [
            (dx, dy, side)
            for dy in (13.0, -13.0, 24.0, -24.0)
            for dx, side in ((0.0, "center"), (4.0, "left"), (-4.0, "right"))
        ]
        boxes = []
        for dx, dy, side in options:
            start = x + dx - {"left": 0, "right": wide, "center": wide / 2}[side]
            box = (start, y + dy - 7, start + wide, y + dy + 7)
            hits = sum(
                box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken
            )
            outside = box[0] < 2 or box[2] > size[0] + 12 or box[1] < 0 or box[3] > size[1]
            boxes.append((hits + 3 * outside, len(boxes), box))
        _, choice, box = min(boxes)
        taken.append(box)
        places.append(options[choice])
    return places


def scatter_plot(result: Result) -> Optional[Plot]:
    """Geometric means over all rows: CPU time against memory, a point an allocator."""
    found = {}
    for name in data.allocators(result):
        x, y = (data.group_mean(result, "all", name, measure)[0] for measure in ("rss", "cpu"))
        if x and y:
            found[name] = (x, y)
    if len(found) < 2:
        return None
    left, height = 52, 330
    figure, axes = canvas(height, left, 14, 44)
    wide, high = WIDTH - left - 14, height - 58
    x_end, y_end = (max(1.1, max(p[i] for p in found.values())) for i in (0, 1))
    x_range = (1 - (x_end - 1) * 0.12, x_end + (x_end - 1) * 0.25)
    y_range = (1 - (y_end - 1) * 0.12, y_end + (y_end - 1) * 0.15)
    pixels = [
        (
            (x - x_range[0]) / (x_range[1] - x_range[0]) * wide,
            (y - y_range[0]) / (y_range[1] - y_range[0]) * high,
        )
        for x, y in found.values()
    ]
    index = data.series_index(result)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    places = label_places(pixels, list(found), (wide, high))
    for (name, (x, y)), (dx, dy, side) in zip(found.items(), places):
        first, style = index[name] == 0, look(index[name])
        axes.plot([x], [y], linestyle="none", **{**style, "markersize": 1.5 * style["markersize"]})
        axes.annotate(
            literal(name),
            (x, y),
            (dx, dy),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=TEXT + (1 if first else 0),
            weight="bold" if first else "normal",
            zorder=40,
        )
    axes.set_xlim(*x_range)
    axes.set_ylim(*y_range)
    axes.locator_params(nbins=6)
    axes.set_xlabel("peak memory, times the best (lower is better)")
    axes.set_ylabel("CPU time, times the best (lower is better)")
    title = "CPU time against peak memory: geometric mean of the ratio to each row's best"
    return Plot(title, to_svg(figure, "summary", title))


def line_plot(
    result: Result,
    key: str,
    title: str,
    x_label: str,
    y_label: str,
    ticks: List[str],
    series: Dict[str, List[Tuple[float, Stat]]],
    log_x: bool,
    places: List[float],
) -> Optional[Plot]:
    """Times over something, a line an allocator."""
    series = {name: points for name, points in series.items() if points}
    stats = [s for points in series.values() for _, s in points]
    if not stats or min(s.median for s in stats) <= 0:
        return None
    names, left = list(series), 62
    top, bottom, high = legend_layout(names)[1] + 4, 42, 230
    figure, axes = canvas(top + bottom + high, left, top, bottom)
    index = data.series_index(result)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for name, points in series.items():
        middle = [s.median for _, s in points]
        below = [max(0, s.median - s.low) for _, s in points]
        above = [max(0, s.high - s.median) for _, s in points]
        axes.errorbar(
            [x for x, _ in points],
            middle,
            yerr=[below, above],
            **{**look(index[name]), "linewidth": 2.2 if index[name] == 0 else 1.3},
        )
    if log_x:
        axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([literal(tick) for tick in ticks])
    lows = [s.low for s in stats if s.low > 0] or [s.median for s in stats]
    log_axis(axes, min(lows), max(s.high for s in stats), high)
    axes.set_xlabel(literal(x_label))
    axes.set_ylabel(literal(y_label))
    add_legend(figure, axes, result, names)
    return Plot(title, to_svg(figure, key, title))


def curve_plot(
    result: Result, prefix: str, title: str, x_label: str, preferred: str
) -> Optional[Plot]:
    """A family of rows whose names end in a number, such as heap-32."""
    rows = data.rows_named(result, prefix)
    if len(rows) < 2:
        return None
    key, label = data.curve_figure([row for _, row in rows], preferred)
    series: Dict[str, List[Tuple[float, Stat]]] = {}
    for name in data.allocators(result):
        pairs = [(float(n), data.curve_stat(row, name, key)) for n, row in rows]
        series[name] = [(x, s) for x, s in pairs if s]
    places = [float(n) for n, _ in rows]
    log_x = places[0] > 0 and places[-1] > 4 * places[0]
    return line_plot(
        result,
        prefix.rstrip("-"),
        title,
        x_label,
        label,
        [f"{n:g}" for n in places],
        series,
        log_x,
        places,
    )


def latency_plots(result: Result) -> List[Plot]:
    """From the median to the worst, for malloc and for free."""
    plots = []
    for row in result["rows"]:
        for call in ("malloc", "free"):
            keys = [k for k in data.result_keys(row) if re.fullmatch(call + r"_(p\d+|max)", k)]
            if len(keys) < 2:
                continue
            series: Dict[str, List[Tuple[float, Stat]]] = {}
            for name in data.allocators(result):
                pairs = [(float(i), data.result_stat(row, name, k)) for i, k in enumerate(keys)]
                series[name] = [(x, s) for x, s in pairs if s]
            ticks = [re.sub(r"p(\d\d)(\d+)", r"p\1.\2", k[len(call) + 1 :]) for k in keys]
            places = [float(i) for i in range(len(keys))]
            plots.append(
                line_plot(
                    result,
                    f"latency-{row['name']}-{call}",
                    f"{row['name']}: {call}, from the " "median call to the slowest",
                    "quantile of the calls",
                    f"time of one {call}",
                    ticks,
                    series,
                    False,
                    places,
                )
            )
    return [plot for plot in plots if plot]


def ratio_plots(result: Result, measure: str, what: str) -> List[Plot]:
    """One plot a group, so that a page can set them side by side."""
    plots = []
    for group, title, rows in data.groups(result):
        caption = f"{title}: {what}, times the row's best"
        svg = dot_plot(result, measure, f"{measure}-{group}", caption, rows)
        if svg:
            plots.append(Plot(caption, svg))
    return plots


def plots(result: Result) -> Dict[str, List[Plot]]:
    """All plots, by the key of the section they belong to."""
    with matplotlib.rc_context(SETTINGS):
        threads = curve_plot(
            result,
            "thread-",
            "glibc's thread benchmark over its threads",
            "threads",
            "time_per_iteration",
        )
        simple = curve_plot(
            result,
            "simple-",
            "glibc's simple benchmark over the block's size",
            "block size in bytes",
            "time_per_iteration",
        )
        heap = curve_plot(result, "heap-", "The same work in a growing heap", "MiB live", "steady")
        found = {
            "summary": [scatter_plot(result)],
            "cpu": ratio_plots(result, "cpu", "CPU time") + [threads, simple],
            "rss": ratio_plots(result, "rss", "peak memory"),
            "heap": [heap],
            "latency": latency_plots(result),
        }
    return {key: [plot for plot in some if plot] for key, some in found.items()}
