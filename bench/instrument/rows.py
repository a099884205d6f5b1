"""Reads bench/rows.ini: which rows there are and why."""

import configparser
import fnmatch
import shlex
from dataclasses import dataclass, field

KEYS = {"title", "group", "why", "run", "client", "environment", "per", "result", "resident", "same-output", "rounds", "needs", "memory"}
GROUP = "group "


class BadRows(Exception):
    """rows.ini, or a name on the command line, is wrong; the sentence says how."""


@dataclass
class Row:
    name: str
    group: str
    why: str
    run: list  # of words, in which {bench}, {source}, {inputs} and {glibc} stand for directories
    client: list = field(default_factory=list)  # loads the server that run starts
    environment: dict = field(default_factory=dict)
    per: str = ""  # a result by which CPU and wall time are divided
    result: str = ""  # a result that is the row's CPU figure, in place of the process's
    resident: str = ""  # a result, in bytes, that is the row's memory figure, in place of the process's peak
    same_output: bool = False
    rounds: int = 0  # at most so many; 0: no limit
    needs: list = field(default_factory=list)  # programs and files
    memory: int = 0  # MiB that must be available


def read_row(name, section, groups):
    unknown = set(section) - KEYS
    if unknown:
        raise BadRows(f"row {name} has the unknown key {sorted(unknown)[0]}; known are {', '.join(sorted(KEYS))}")
    for key in ("group", "why", "run"):
        if not section.get(key):
            raise BadRows(f"row {name} has no {key}")
    if section["group"] not in groups:
        raise BadRows(f"row {name} is of the group {section['group']}, which there is not")
    return Row(
        name=name,
        group=section["group"],
        why=" ".join(section["why"].split()),
        run=shlex.split(section["run"]),
        client=shlex.split(section.get("client", "")),
        environment=dict(word.split("=", 1) for word in shlex.split(section.get("environment", ""))),
        per=section.get("per", ""),
        result=section.get("result", ""),
        resident=section.get("resident", ""),
        same_output=section.getboolean("same-output", False),
        rounds=section.getint("rounds", 0),
        needs=section.get("needs", "").split(),
        memory=section.getint("memory", 0),
    )


def read(path):
    """The groups, name: title, and the rows, in the order of the file."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    try:
        if not parser.read(path, encoding="utf-8"):
            raise BadRows(f"{path} cannot be read")
        groups = {s[len(GROUP):]: parser[s]["title"] for s in parser.sections() if s.startswith(GROUP)}
        rows = [read_row(s, parser[s], groups) for s in parser.sections() if not s.startswith(GROUP)]
    except (configparser.Error, KeyError, ValueError) as error:
        raise BadRows(f"{path}: {error}") from error
    return groups, rows


def choose(rows, patterns):
    """The rows that patterns name: names or groups, with * and ?."""
    chosen = []
    for pattern in patterns:
        hits = [r for r in rows if fnmatch.fnmatch(r.name, pattern) or r.group == pattern]
        if not hits:
            raise BadRows(f"{pattern} is no row, no group and no allocator; --list shows the rows")
        chosen += hits
    return [r for r in rows if r in chosen] if patterns else rows
