#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sections of doc/steps.md: a table of keys for each step of scenarios, as `trnvp test --steps` knows them, and an
example from scenarios/.

usage: tests/support/steps_page.py TRNVP PAGE SCENARIOS [--check]

With --check it writes nothing; exit status 1 means that the page is stale.
"""
import json
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import generated_page  # noqa: E402
from generated_page import cell  # noqa: E402

MANY = 200  # characters of the words that a value may be: more of them are listed below the table
LONG = 30  # characters of a meaning, or of a type, that is not repeated when another step has the same key


def example(step: str, scenarios: list[pathlib.Path]) -> str:
    """The shortest use of the step in the scenarios, of at most six lines; "": there is none."""
    found = []
    for file in scenarios:
        lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            start = re.match(rf"( *)- {step}:(?= |$)", line)
            if not start:
                continue
            end = number + 1
            while end < len(lines) and lines[end].startswith(start[1] + "  "):
                end += 1
            use = [each[len(start[1]) :].split("  #")[0].rstrip() for each in lines[number:end]]
            if len(use) <= 6 and all(len(each) <= 130 and "${" not in each for each in use):
                found.append((len("".join(use)), file.name, use))
    if not found:
        return ""
    _, name, use = min(found)
    return f"\n```yaml not run: part of scenarios/{name}, which tests run\n" + "\n".join(use) + "\n```\n"


def quoted(names: list[str]) -> str:
    return ", ".join(f"`{one}`" for one in names)


def group_of(key: dict) -> frozenset:
    """The key and those that it excludes."""
    return frozenset([key["name"], *key["not_with"]])


def exclusive(keys: list[dict]) -> list[frozenset]:
    """Groups of keys, of which a step has at most one."""
    named = {key["name"]: group_of(key) for key in keys}
    groups = dict.fromkeys(group for group in named.values() if len(group) > 1)
    return [group for group in groups if all(named[one] == group for one in group)]


def meaning_of(key: dict, groups: list[frozenset]) -> str:
    notes = [key["doc"]] if key["doc"] else []
    if key["only_with"]:
        notes.append("only with " + quoted(key["only_with"]))
    if key["not_with"] and group_of(key) not in groups:
        notes.append("not with " + quoted(key["not_with"]))
    return "; ".join(notes)


def table(step: dict, seen: dict) -> str:
    """The table of the step's keys, with references to the tables in `seen`, to which it adds its own."""
    groups = exclusive(step["keys"])
    rows = [(key["name"], key["type"], key["default"], meaning_of(key, groups)) for key in step["keys"]]
    if len(rows) > 3 and rows[0] in seen and all(seen.get(row) == seen[rows[0]] for row in rows):
        return f"The keys are those of [{seen[rows[0]]}](#{seen[rows[0]]}).\n"
    text, lists = "\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n" if rows else "", ""
    for row in rows:
        name, kind, otherwise, meaning = row
        if row in seen and max(len(meaning), len(cell(kind))) > LONG:
            meaning = f"as in [{seen[row]}](#{seen[row]})"
            kind = kind if len(cell(kind)) <= LONG else ""
        else:
            seen.setdefault(row, step["name"])
        if len(kind) > MANY:
            before, words = kind.split(" `", 1)
            kind = before + " the words below"
            lists += f"\n`{name}`, {before} `{words}.\n"
        text += f"| `{name}` | {cell(kind)} | {cell(otherwise)} | {cell(meaning)} |\n"
    for group in groups:
        text += "\nAt most one of " + quoted([key["name"] for key in step["keys"] if key["name"] in group]) + ".\n"
    return text + lists


def section(step: dict, seen: dict, scenarios: list[pathlib.Path]) -> str:
    text = f"\n## {step['name']}\n\n{step['doc'][:1].upper()}{step['doc'][1:]}.\n"
    if step["value"]:
        text += f"Written as {step['value']}.\n"
    return text + table(step, seen) + example(step["name"], scenarios)


def main() -> int:
    program, page, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    steps = json.loads(subprocess.run([program, "test", "--steps", "--json"], capture_output=True, text=True, check=True).stdout)
    scenarios = sorted(folder.glob("*.yaml"))
    part = "| Step | What it does |\n|---|---|\n"
    part += "".join(f"| [`{step['name']}`](#{step['name']}) | {cell(step['doc'])} |\n" for step in steps)
    seen: dict = {}
    part += "".join(section(step, seen, scenarios) for step in steps) + "\n"
    return generated_page.write(page, "steps", part, "--check" in sys.argv[4:])


if __name__ == "__main__":
    sys.exit(main())
