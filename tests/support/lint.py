#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the C++ sources of platform/, models/ and sw-stubs/.

usage: lint.py BUILD LINT    BUILD: a build; LINT: the build folder of the preset `lint`, configured

A file that has passed is checked again only after a change of the input of its compiler or of
clang-tidy: LINT/passed holds a digest of each.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
linted = re.compile(r"(platform|models|sw-stubs)/.*\.cpp$")


def for_clang(command: str, build: pathlib.Path, lint: pathlib.Path) -> str:
    """The command without parameters that only g++ accepts; generated headers are taken from the
    build folder."""
    return re.sub(r" --param=\S+", "", command).replace(f"{lint}/generated", f"{build}/generated")


def digest(entry: dict) -> str:
    """Digest of clang-tidy's input for a file, including comments, which may disable checks."""
    command = re.sub(r" -o \S+ -c ", " -E -C ", entry["command"].removeprefix("ccache "))
    text = subprocess.run(command, shell=True, cwd=entry["directory"], capture_output=True, check=True).stdout
    return hashlib.sha256((root / ".clang-tidy").read_bytes() + entry["command"].encode() + text).hexdigest()


def check(entry: dict, lint: pathlib.Path) -> tuple[bool, str]:
    """Returns whether a file passes, and the output of clang-tidy."""
    stamp = lint / "passed" / digest(entry)
    if stamp.exists():
        return True, ""
    tidy = subprocess.run(["clang-tidy", "-p", lint, "--quiet", entry["file"]], capture_output=True, text=True)
    if tidy.returncode == 0:
        stamp.touch()
    return tidy.returncode == 0, tidy.stdout + tidy.stderr


def main() -> int:
    build, lint = (pathlib.Path(folder).resolve() for folder in sys.argv[1:])
    commands = lint / "compile_commands.json"
    entries = json.loads(commands.read_text())
    for entry in entries:
        entry["command"] = for_clang(entry["command"], build, lint)
    commands.write_text(json.dumps(entries))
    (lint / "passed").mkdir(exist_ok=True)
    wanted = [e for e in entries if linted.match(os.path.relpath(e["file"], root))]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for passed, text in workers.map(lambda entry: check(entry, lint), wanted):
            if not passed:
                failed += 1
                print(text)
    print(f"{len(wanted)} files, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
