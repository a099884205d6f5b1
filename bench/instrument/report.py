"""Writes a result of bench/compare as one HTML page with plots, and as Markdown.

The page is one file that loads nothing.  report_tables.py says what is in it; here it is only
written down.
"""
import html
import re
from pathlib import Path
from string import Template
from typing import Dict, List, Tuple

from . import report_data as data
from . import report_tables as tables
from .report_data import Result
from .report_tables import Cell, Line, Section, Table

HERE = Path(__file__).resolve().parent
FIRST = 16  # losses to show before the reader asks for more; the tables have them all
LEGEND = (
    "★ and bold: the row's best. ▼ faster, ▲ slower, = same, ? unclear: CPU time against {base}. "
    "{noisy} noisy row."
)


def escape(text: str) -> str:
    return html.escape(str(text))


def identifier(text: str) -> str:
    """An id made of any name; distinct enough together with a running number."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def sign(character: str, said: str) -> str:
    """A sign for the eye, and the word for who hears the page."""
    return (
        f'<span class="sign" aria-hidden="true" title="{escape(said)}">{escape(character)}</span>'
        f'<span class="said"> {escape(said)}</span>'
    )


def html_cell(cell: Cell, text: bool, judged: bool) -> str:
    """A figure; where a table gives verdicts, each cell has room for one, so that all align."""
    if cell.missing:
        return f'<td class="missing">{escape(cell.main)}<small>{escape(cell.missing)}</small></td>'
    best = sign("★", "best") if cell.best else ""
    verdict = sign(tables.VERDICTS[cell.verdict], cell.verdict) if cell.verdict else ""
    if judged and not verdict:
        verdict = '<span class="sign"></span>'
    small = f"<small>{escape(cell.detail)}</small>" if cell.detail else ""
    kind = ' class="best"' if cell.best else ' class="text"' if text else ""
    return f"<td{kind}>{best}{escape(cell.main)}{verdict}{small}</td>"


def html_line(line: Line, with_why: bool, text: bool, judged: bool) -> str:
    head = escape(line.head) + (sign(data.NOISY_SIGN, "noisy") if line.noisy else "")
    head += f"<small>{escape(line.note)}</small>" if line.note else ""
    cells = "".join(html_cell(cell, text, judged) for cell in line.cells)
    why = f'<td class="text why">{escape(line.why)}</td>' if with_why else ""
    return f'<tr><th scope="row">{head}</th>{cells}{why}</tr>'


def html_table(table: Table, number: int) -> str:
    """A table in a box of its own to scroll in, which the keyboard can reach."""
    key, text = f"table-{number}-{identifier(table.key)}", table.key == "versions"
    with_why = any(line.why for line in table.lines)
    kind = ' class="text"' if text else ""
    heads = "".join(f'<th scope="col"{kind}>{escape(column)}</th>' for column in table.columns)
    why = '<th scope="col" class="text">what it is for</th>' if with_why else ""
    judged = any(cell.verdict for line in table.lines for cell in line.cells)
    lines = "\n".join(html_line(line, with_why, text, judged) for line in table.lines)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-labelledby="{key}"><table>\n'
        f'<caption id="{key}"><span>{escape(table.caption)}</span></caption>\n'
        f'<thead><tr><th scope="col">{escape(table.head)}</th>{heads}{why}</tr></thead>\n'
        f"<tbody>\n{lines}\n</tbody></table></div>"
    )


def html_section(
    section: Section, plots: List[Tuple[str, str]], number: int, first: str = ""
) -> str:
    """A heading, plots in columns, then what may stand side by side: first, and the tables."""
    parts = [f'<section id="{section.key}"><h2>{escape(section.title)}</h2>']
    parts += [f"<p>{escape(text)}</p>" for text in section.intro]
    figures = [
        f"<figure><figcaption>{escape(caption)}</figcaption>\n{svg}</figure>"
        for caption, svg in plots
    ]
    written = [first] + [
        html_table(table, number * 1000 + i) for i, table in enumerate(section.tables)
    ]
    if len(figures) > 1:
        parts.append('<div class="plots">' + "\n".join(figures) + "</div>")
    else:  # a single one may stand beside a table
        written = figures + written
    parts.append('<div class="tables">' + "\n".join(written) + "</div></section>")
    return "\n".join(parts)


def html_pairs(pairs: List[Tuple[str, str]]) -> str:
    return (
        "<dl>" + "\n".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in pairs) + "</dl>"
    )


def html_list(items: List[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>" if items else ""


def html_losses(result: Result) -> str:
    parts = []
    for measure in ("cpu", "rss"):
        opening, phrases = tables.loss_sentence(result, measure)
        if opening:
            shown, rest = html_list(phrases[:FIRST]), html_list(phrases[FIRST:])
            if rest:
                shown += f"<details><summary>{len(phrases) - FIRST} more</summary>{rest}</details>"
            parts.append(f'<div class="losses">{escape(opening)}{shown}</div>')
    return "\n".join(parts)


def html_page(result: Result) -> str:
    from . import plots  # here, for Markdown needs no matplotlib

    drawn: Dict[str, List[Tuple[str, str]]] = plots.plots(result)
    used = [s for s in tables.sections(result) if s.tables or drawn.get(s.key)]
    how = Section("measured", "What was measured", [], [tables.versions_table(result)])
    body = [
        html_section(used[0], drawn.get(used[0].key, []), 0),
        html_section(how, [], 1, html_pairs(tables.machine_facts(result))),
    ]
    body += [html_section(s, drawn.get(s.key, []), i + 2) for i, s in enumerate(used[1:])]
    body.append(
        '<section id="reading"><h2>How to read this</h2>'
        + html_pairs(tables.reading(result))
        + "</section>"
    )
    links = [(s.key, s.title) for s in [used[0], how] + used[1:]] + [
        ("reading", "How to read this")
    ]
    contents = (
        "<ul>" + "".join(f'<li><a href="#{k}">{escape(t)}</a></li>' for k, t in links) + "</ul>"
    )
    return Template((HERE / "page.html").read_text("utf-8")).substitute(
        title=escape(page_title(result)),
        style=(HERE / "page.css").read_text("utf-8").rstrip(),
        lead=escape(tables.summary_sentence(result)),
        losses=html_losses(result),
        contents=contents,
        legend=escape(legend(result)),
        body="\n".join(body),
    )


def page_title(result: Result) -> str:
    name, others = data.base(result), data.others(result)
    if not others:
        return f"{name}, measured alone"
    return f"{name} against " + (
        others[0] if len(others) == 1 else f"{len(others)} other allocators"
    )


def legend(result: Result) -> str:
    return LEGEND.format(base=data.base(result), noisy=data.NOISY_SIGN)


def markdown_text(text: str) -> str:
    """Text that neither ends a table's cell nor turns into markup."""
    text = html.escape(" ".join(str(text).split()), quote=False)
    return re.sub(r"([\\|*`\[\]])", r"\\\1", text)


def markdown_cell(cell: Cell) -> str:
    if cell.missing:
        return markdown_text(f"— {cell.missing}")
    main = f"**{markdown_text(cell.main)}**★" if cell.best else markdown_text(cell.main)
    mark = tables.VERDICTS.get(cell.verdict, "")
    detail = f" ({markdown_text(cell.detail)})" if cell.detail else ""
    return main + mark + detail


def markdown_table(table: Table) -> List[str]:
    """Padded, so that it reads as plain text too."""
    rows = [[markdown_text(head) for head in [table.head] + table.columns]]
    for line in table.lines:
        head = markdown_text(line.head) + (data.NOISY_SIGN if line.noisy else "")
        head += f", {markdown_text(line.note)}" if line.note else ""
        rows.append([head] + [markdown_cell(cell) for cell in line.cells])
    widths = [max(3, *(len(row[i]) for row in rows)) for i in range(len(rows[0]))]
    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    return [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
        for row in [rows[0], rule] + rows[1:]
    ]


def markdown_section(section: Section) -> List[str]:
    out = [f"## {markdown_text(section.title)}", ""]
    for text in section.intro:
        out += [markdown_text(text), ""]
    for table in section.tables:
        out += [f"### {markdown_text(table.caption)}", "", *markdown_table(table), ""]
    return out


def markdown_pairs(pairs: List[Tuple[str, str]]) -> List[str]:
    return [f"- **{markdown_text(a)}**: {markdown_text(b)}" for a, b in pairs] + [""]


def markdown_losses(result: Result) -> List[str]:
    out = []
    for measure in ("cpu", "rss"):
        opening, phrases = tables.loss_sentence(result, measure)
        if opening:  # one paragraph, for a list would push the tables off the screen
            out += [markdown_text(" ".join([opening, "; ".join(phrases)]).strip()), ""]
    return out


def markdown_page(result: Result) -> str:
    used = [section for section in tables.sections(result) if section.tables]
    out = [
        f"# {markdown_text(page_title(result))}",
        "",
        markdown_text(tables.summary_sentence(result)),
        "",
    ]
    out += markdown_losses(result) + [markdown_text(legend(result)), ""]
    out += markdown_section(used[0])
    out += ["## What was measured", "", *markdown_pairs(tables.machine_facts(result))]
    out += markdown_table(tables.versions_table(result)) + [""]
    for section in used[1:]:
        out += markdown_section(section)
    # The tables would be too wide with these.
    reasons = [(row["name"], row["why"]) for row in result["rows"] if row.get("why")]
    if reasons:
        out += ["## What the rows are for", "", *markdown_pairs(reasons)]
    out += ["## How to read this", "", *markdown_pairs(tables.reading(result))]
    return "\n".join(out).rstrip() + "\n"


def write_html(result: Result, path: str) -> None:
    Path(path).write_text(html_page(result), "utf-8")


def write_markdown(result: Result, path: str) -> None:
    Path(path).write_text(markdown_page(result), "utf-8")
