#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that compiled C files call each other without cycles, and export names with one prefix.

Usage: check_symbols.py NM [--prefix PREFIX] LIBRARY_OR_OBJECT...
"""
import argparse
import graphlib
import subprocess
import sys


def symbols(nm, files):
    """(defined, used): name -> object file that defines it; object file -> names it uses."""
    defined, used = {}, {}
    for line in subprocess.run([nm, "-A", "-g", *files], capture_output=True, text=True, check=True).stdout.splitlines():
        place, _, rest = line.rpartition(":")
        *_, kind, name = rest.split()
        if kind in "UwWvV":
            used.setdefault(place, set()).add(name)
        elif not name.startswith("__"):  # names with __ belong to the compiler's instrumentation
            defined[name] = place
    return defined, used


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nm")
    parser.add_argument("--prefix", default="")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    defined, used = symbols(args.nm, [file for each in args.files for file in each.split(";")])
    wrong = [
        f"{place}: '{name}' has no prefix {args.prefix}" for name, place in sorted(defined.items()) if not name.startswith(args.prefix)
    ]
    calls = {user: {defined[name] for name in names if name in defined} - {user} for user, names in used.items()}
    try:
        graphlib.TopologicalSorter(calls).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1][::-1]  # ordered from caller to callee
        for user, callee in zip(circle, circle[1:]):
            names = sorted(name for name in used[user] if defined.get(name) == callee)
            wrong.append(f"circle: {user} uses {', '.join(names)} of {callee}")
    if not defined:
        wrong.append("no external symbols found")
    print("\n".join(wrong) if wrong else f"{len(defined)} external symbols of {len(set(defined.values()))} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
