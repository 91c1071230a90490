#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every bench_* program of a build folder and prints one table.

Each program takes `--json FILE` and writes a list of rows:
  {"name", "value", "unit", "peer", "peer_value", "ratio", "goal", "met"}
`ratio` is value / peer_value measured in the same run; `goal` is text; `met` is true, false or null.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


def number(value):
    return "" if value is None else f"{value:,.4g}" if isinstance(value, (int, float)) else str(value)


def table(rows):
    head = ["what", "value", "unit", "peer", "peer value", "ratio", "goal", "met"]
    lines = [[r["name"], number(r["value"]), r["unit"], r.get("peer") or "", number(r.get("peer_value")),
              number(r.get("ratio")), r.get("goal") or "", {True: "yes", False: "NO", None: ""}[r.get("met")]]
             for r in rows]
    widths = [max(len(line[i]) for line in [head] + lines) for i in range(len(head))]
    for line in [head, ["-" * w for w in widths]] + lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    parser.add_argument("--only", default="", help="run the programs whose name contains this text")
    args = parser.parse_args()

    rows, failed = [], []
    for program in sorted((args.build / "tests").glob("bench_*")):
        if args.only not in program.name:
            continue
        print(f"==> {program.name}", file=sys.stderr)
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            done = subprocess.run([program, "--json", out.name], stdout=sys.stderr, check=False)
            if done.returncode != 0:
                failed.append(program.name)
                continue
            rows += json.load(open(out.name, encoding="utf-8"))
    table(rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for name in failed:
        print(f"bench: {name} failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
