#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sections of doc/faults.md: the faults of each type of module with their arguments, as `trnctl list faults` shows them.

usage: tests/support/faults_page.py TRNCTL PAGE [--check]

With --check it writes nothing; exit status 1 means that the page is stale.
"""
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import generated_page  # noqa: E402
from generated_page import cell  # noqa: E402

BOARDS = "trn3-gen1", "trn1-2xl"  # have every type of module with faults together


def section(group: dict) -> str:
    text = f"\n## {group['type']}\n\nFor example `{group['modules'][0]}`.\n"
    text += "\n| Fault | Effect | Argument | Value | Default | Meaning |\n|---|---|---|---|---|---|\n"
    for fault in group["faults"]:
        first = f"| `{fault['fault']}` | {cell(fault['description'])} "
        for one in fault["arguments"] or [None]:
            row = (
                f"| `{one['name']}` | {one['type']}, {one['range']} | {one.get('default', 'required')} | {cell(one['meaning'])} "
                if one
                else "| | | | "
            )
            text += first + row + "|\n"
            first = "| | "
    return text


def main() -> int:
    program, page = sys.argv[1], pathlib.Path(sys.argv[2])
    groups = {}
    for board in BOARDS:
        listed = subprocess.run([program, "--board", board, "--json", "list", "faults"], capture_output=True, text=True, check=True).stdout
        for group in map(json.loads, listed.splitlines()):
            groups.setdefault(group["type"], group)  # the others differ in ranges only
    part = "".join(section(groups[name]) for name in sorted(groups)) + "\n"
    return generated_page.write(page, "faults", part, "--check" in sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
