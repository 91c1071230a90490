#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the samples of pages: commands in order, in a clean folder for each page, and compares what they
print with the page. doc/hacking.md describes the marks of a sample.

    samples_test.py BUILD PAGE...           prints PAGE:LINE and the difference; status 1 on differences
    samples_test.py BUILD --write PAGE...   writes what the commands print into the pages where it differs
"""
import os
import pathlib
import re
import signal
import sys
import time

from checks import Checks
from page import FAILS, NOT_RUN, TRANSCRIPT, Sample, commands_in, samples_of, spans_of
from shell import Shell, differs
from tree import Tree

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Wall time of all pages; CTest's limit is longer, so that a page that hangs is named and its processes are ended.
SECONDS = float(os.environ.get("TRNVP_SAMPLES_SECONDS", "540"))


class Page:
    """One page: its samples, the shell in which they run, and what is wrong with them."""

    def __init__(self, name: str, tree: Tree, end: float, write: bool) -> None:
        self.name, self.write = name, write
        self.wrong: list[str] = []
        self.rewritten: list[tuple[int, int, list[str]]] = []  # first line, end, new lines
        self.text = (tree.root / name).read_text(encoding="utf-8")
        self.samples = list(samples_of(self.text))
        self.shell = Shell(tree, end, "\n".join(sample.text for sample in self.samples))
        self.checks = Checks(tree.root, tree.build, self.shell.folder)

    def report(self, line: int, what: str) -> None:
        self.wrong.append(f"{self.name}:{line}: {what}")

    def run(self) -> list[str]:
        with self.shell:
            for sample in self.samples:
                if not self.shell.has_ended:
                    self.sample(sample)
            for job, problem in self.shell.failed_jobs():
                self.report(job.line, problem)
            for line, span in spans_of(self.text):
                self.references(line, span)
        if self.write and self.rewritten:
            self.rewrite()
        return self.wrong

    def references(self, line: int, command: str) -> None:
        for problem in self.checks.references(command):
            self.report(line, problem)

    def sample(self, sample: Sample) -> None:
        if sample.mistake:
            self.report(sample.line, sample.mistake)
        elif sample.language in TRANSCRIPT:
            self.transcript(sample)
        else:
            if sample.file:
                self.shell.write(sample.file, sample.text)
            for problem in self.checks.sample(sample, self.shell):
                self.report(sample.line, problem)

    def transcript(self, sample: Sample) -> None:
        statuses = []
        for line, command, expected in commands_in(sample):
            self.references(line, command)
            if problem := self.shell.syntax(command):
                self.report(line, problem)
            written = re.fullmatch(r"cat (?:> )?([\w./-]+)", command)
            if written and (command[4] == ">" or not self.shell.exists(written[1])):
                self.shell.write(written[1], "".join(text + "\n" for text in expected))
            elif sample.mark != NOT_RUN and not self.shell.has_ended:
                statuses.append(self.command(line, command, expected, bool(expected) and sample.mark == FAILS))
        if sample.mark == FAILS and not any(statuses):
            self.report(sample.line, f"the sample is marked '{FAILS}', and all its commands end with status 0")

    def command(self, line: int, command: str, expected: list[str], may_fail: bool) -> int | None:
        status, printed = self.shell.run(command, line)
        if status is None:
            self.report(line, f"'{command}' " + ("did not end" if self.shell.is_late else "ended the shell"))
        elif status != 0 and not may_fail:
            self.report(line, f"'{command}' ended with status {status}:\n" + "\n".join(printed[-20:]))
        elif not expected:
            pass
        elif at := differs(expected, printed):
            shown = "\n".join(printed[:60])
            self.report(line + command.count("\n") + at, f"'{command}' does not print this line; it prints:\n{shown}")
            if not any(text.strip() == "..." for text in expected):
                first = line + command.count("\n") + 1
                self.rewritten.append((first, first + len(expected), printed))
        return status

    def rewrite(self) -> None:
        lines = self.text.split("\n")
        for first, end, printed in reversed(self.rewritten):
            lines[first - 1 : end - 1] = printed
        (self.checks.root / self.name).write_text("\n".join(lines), encoding="utf-8")


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the shell of the page
    arguments = [word for word in sys.argv[1:] if word != "--write"]
    build, pages = pathlib.Path(arguments[0]).resolve(), arguments[1:]
    end = time.monotonic() + SECONDS
    tree = Tree(ROOT, build)
    wrong = [problem for name in pages for problem in Page(name, tree, end, "--write" in sys.argv).run()]
    print("\n".join(wrong) if wrong else f"{len(pages)} pages: their samples run as printed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
