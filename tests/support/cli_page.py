#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sections of doc/cli.md: what each program and each of its commands says with --help.

usage: tests/support/cli_page.py PAGE PROGRAM... [--check]

With --check it writes nothing; exit status 1 means that the page is stale.
"""
import os
import pathlib
import subprocess
import sys
import textwrap

sys.dont_write_bytecode = True
import generated_page  # noqa: E402
from command_help import commands_in  # noqa: E402

WIDTH, HOME = 120, "/home/user"  # of lines; of programs, so that the page is the same on every machine


def help_of(program: str, words: list[str]) -> str:
    return subprocess.run(
        [program, *words, "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "HOME": HOME, "COLUMNS": "80"},
    ).stdout


def folded(text: str) -> str:
    lines = []
    for line in text.replace(HOME + "/", "~/").rstrip().splitlines():
        indent = " " * (len(line) - len(line.lstrip()) if line.startswith(" " * 20) else 30)
        lines += textwrap.wrap(
            line,
            WIDTH,
            subsequent_indent=indent,
            drop_whitespace=True,
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
        ) or [""]
    return "\n".join(lines)


def sections(program: str, words: list[str], depth: int) -> str:
    text = help_of(program, words)
    name = pathlib.Path(program).name
    shown = text.replace(program, name)
    title = " ".join([name, *words])
    part = f"\n{'#' * depth} {title}\n\n```text\n{folded(shown)}\n```\n"
    for command in commands_in(text):
        part += sections(program, [*words, command], min(depth + 1, 4))
    return part


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--check"]
    part = "".join(sections(program, [], 2) for program in words[1:])
    return generated_page.write(pathlib.Path(words[0]), "commands", part + "\n", "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
