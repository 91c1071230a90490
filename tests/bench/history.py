# SPDX-License-Identifier: Apache-2.0
"""Records of ./dev bench: medians of several runs, one file per release, and comparison of records.

A record is a text file, so that its changes are readable as a diff:
    # machine: 2 x NAME OF THE PROCESSOR
    # runs: 5
    NAME <tab> VALUE <tab> UNIT <tab> RATIO or - <tab> SPREAD <tab> less, more or -
VALUE and RATIO are medians. SPREAD is (largest - smallest) / median over the runs, of the ratio if
present. The last column is the better direction; - if the row's goal does not define one.
"""
import dataclasses
import os
import pathlib
import re
import statistics

FOLDER = pathlib.Path(__file__).with_name("history")
NOISE = 0.05  # minimum relative noise


class RecordError(Exception):
    """A record that is not valid: file, line, reason."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A row with its values of all runs."""

    name: str
    value: float
    unit: str
    ratio: float | None
    spread: float
    better: str


@dataclasses.dataclass(frozen=True)
class Record:
    machine: str
    runs: int
    entries: dict[str, Entry]


def this_machine() -> str:
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as text:
        found = re.search(r"^model name\s*:\s*(.*)$", text.read(), re.MULTILINE)
    return f"{os.cpu_count()} x {found.group(1).strip() if found else 'unknown processor'}"


def better(row: dict) -> str:
    goal = (row.get("goal") or "").lstrip()
    return {"<": "less", ">": "more"}.get(goal[:1], "-")


def of_runs(runs: list[list[dict]], machine: str) -> Record:
    """Combines the rows of the runs into one record. Rows missing in some run are left out."""
    entries = {}
    for first in runs[0]:
        same = [next((row for row in run if row["name"] == first["name"]), None) for run in runs]
        if any(row is None or not isinstance(row["value"], (int, float)) for row in same):
            continue
        values = [float(row["value"]) for row in same]
        ratios = [row.get("ratio") for row in same]
        has_ratio = all(isinstance(ratio, (int, float)) for ratio in ratios)
        compared = ratios if has_ratio else values
        middle = statistics.median(compared)
        spread = (max(compared) - min(compared)) / abs(middle) if middle else 0.0
        entries[first["name"]] = Entry(
            first["name"], statistics.median(values), first["unit"], middle if has_ratio else None, spread, better(first)
        )
    return Record(machine, len(runs), entries)


def text_of(record: Record) -> str:
    lines = [f"# machine: {record.machine}", f"# runs: {record.runs}"]
    for one in sorted(record.entries.values(), key=lambda one: one.name):
        ratio = "-" if one.ratio is None else f"{one.ratio:.4g}"
        lines.append("\t".join((one.name, f"{one.value:.5g}", one.unit, ratio, f"{one.spread:.3f}", one.better)))
    return "\n".join(lines) + "\n"


def read(file: pathlib.Path) -> Record:
    """Reads a record. Raises RecordError with file name and line."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as why:
        raise RecordError(f"{file}: {why}") from why
    machine, runs, entries = "", 1, {}
    for number, line in enumerate(lines, 1):
        if line.startswith("# machine: "):
            machine = line.removeprefix("# machine: ")
        elif line.startswith("# runs: ") and line.removeprefix("# runs: ").isdigit():
            runs = int(line.removeprefix("# runs: "))
        elif not line.startswith("#"):
            one = _entry(line, f"{file}:{number}")
            entries[one.name] = one
    if not machine:
        raise RecordError(f"{file}: no line '# machine: ...'; ./dev bench --record NAME writes records")
    return Record(machine, runs, entries)


def _entry(line: str, place: str) -> Entry:
    try:
        name, value, unit, ratio, spread, direction = line.split("\t")
        if direction not in ("less", "more", "-"):
            raise ValueError(direction)
        return Entry(name, float(value), unit, None if ratio == "-" else float(ratio), float(spread), direction)
    except ValueError as why:
        raise RecordError(f"{place}: expected name, value, unit, ratio, spread and less, more or -, separated by " "tabs") from why


@dataclasses.dataclass(frozen=True)
class Change:
    name: str
    before: float
    after: float
    noise: float
    is_slower: bool

    def text(self) -> str:
        word = "slower" if self.is_slower else "faster"
        return (
            f"{word}: {self.name}: {self.before:.4g} -> {self.after:.4g} ({self.after / self.before - 1:+.1%}, " f"noise {self.noise:.1%})"
        )


def compare(old: Record, new: Record) -> list[Change]:
    """Changes larger than the spread of both records and 5 %. Ratios are compared across machines,
    values without a peer only on the same machine; slower rows come first."""
    changes = []
    for name, after in new.entries.items():
        before = old.entries.get(name)
        if before is None or after.better == "-":
            continue
        pair = (before.ratio, after.ratio)
        if None in pair:
            if old.machine != new.machine:
                continue
            pair = (before.value, after.value)
        noise = max(NOISE, before.spread, after.spread)
        if pair[0] <= 0 or abs(pair[1] / pair[0] - 1) <= noise:
            continue
        changes.append(Change(name, pair[0], pair[1], noise, (pair[1] > pair[0]) == (after.better == "less")))
    return sorted(changes, key=lambda one: (not one.is_slower, one.name))
