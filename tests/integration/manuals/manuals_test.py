#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages and completions have what --help has, and their readers accept them: manuals_test.py BUILD [TEST...]"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).absolute()
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

from command_help import commands_in  # noqa: E402 - after the path

MANUALS = BUILD / "manuals"
PROGRAMS = {"trnvp": "trnvp", "trnctl": "trnvp", "trn-asm": "trnvp", "trn-nki": "python3-trnvp"}
ENVIRONMENT = dict(os.environ, PATH=f"{BUILD}:{os.environ['PATH']}", LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")
IN_BASH = """set -u; source "$1"; COMP_LINE=$2; COMP_POINT=${#2}; COMPREPLY=(); $3; printf '%s\\n' "${COMPREPLY[@]}" """


def said(*words: object, status: int = 0, errors: bool = False) -> str:
    done = subprocess.run([str(word) for word in words], env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == status, f"{words}: status {done.returncode}: {done.stderr}"
    return done.stderr if errors else done.stdout


def completed(program: str, line: str) -> list[str]:
    return [word.partition("\t")[0] for word in said(BUILD / program, "--complete", line).splitlines()]


def options_in(text: str) -> set[str]:
    return set(re.findall(r"^ +(?:-\w, ?)?(--[a-z][\w-]*)", text, re.M)) - {"--version"}


def listed(names: str) -> list[pathlib.Path]:
    return [file for program in MANUALS.iterdir() if program.is_dir() for file in (program / names).iterdir()]


class ManualsTest(unittest.TestCase):
    def check(self, program: str, words: list[str]) -> None:
        text = said(BUILD / program, *words, "--help")
        page = MANUALS / PROGRAMS[program] / "man1" / f"{'-'.join([program, *words[:1]])}.1"
        manual = page.read_text().replace("\\-", "-")
        line = " ".join([program, *words])
        found = completed(program, f"{line} -")
        for option in options_in(text):
            self.assertIn(f"\\fB{option}\\fR", manual, f"{page.name}: {words}")
            self.assertIn(option, found, f"{line} -")
        commands = commands_in(text)
        found = completed(program, f"{line} ") if commands else []
        for command in commands:
            self.assertIn(command, found, f"{line} ")
            if not words:
                self.assertIn(f"\\fB{program}-{command}\\fR(1)", manual)
            self.check(program, [*words, command])

    def test_every_option_and_command(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.check(program, [])

    def test_values_and_names_are_completed(self):
        self.assertEqual(completed("trnvp", "trnvp run trn3-chip --timing f"), ["functional"])
        self.assertIn("trn3-chip", completed("trnvp", "trnvp run trn3"))
        self.assertEqual(completed("trnvp", "trnvp ins"), ["inspect"])
        self.assertIn("--jobs", completed("trnvp", "trnvp test --j"))
        self.assertEqual(completed("trnvp", "trnvp run trn3-chip --timing contended x"), [])
        self.assertEqual(completed("trn-nki", "trn-nki run --timing "), ["contended", "functional"])

    def test_shells_accept_their_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell) is None:
                continue
            for file in listed(shell):
                said(shell, "-n", file)
        self.assertEqual(len(listed("bash")), len(PROGRAMS))

    def test_bash_completes(self):
        script = MANUALS / "trnvp/bash/trnvp"
        self.assertEqual(said("bash", "-c", IN_BASH, "bash", script, "trnvp bo", "_trnvp"), "boards\n")
        script = MANUALS / "python3-trnvp/bash/trn-nki"
        self.assertEqual(said("bash", "-c", IN_BASH, "bash", script, "trn-nki comp", "_trn_nki"), "compile\n")

    def test_zsh_completes(self):
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed")
        stubs = "_describe() { print -l -- $found; }; _files() { print files; }; CURRENT=$#words; PREFIX=$words[-1]; "
        run = f"{stubs} source {MANUALS}/trnvp/zsh/_trnctl"
        words = said("zsh", "-fc", f"words=(trnctl snapshots); {run}")
        self.assertEqual(words, "snapshots:kept states and their simulated times\n")
        self.assertEqual(said("zsh", "-fc", f"words=(trnctl copy here); {run}"), "files\n")

    def test_fish_completes(self):
        if shutil.which("fish") is None:
            self.skipTest("fish is not installed")
        words = said("fish", "-c", f"source {MANUALS}/trnvp/fish/trnctl.fish; complete -C 'trnctl snapshots'")
        self.assertEqual(words, "snapshots\tkept states and their simulated times\n")

    def test_man_reads_the_pages_without_warnings(self):
        if shutil.which("man") is None:
            self.skipTest("man is not installed")
        for page in listed("man1"):
            self.assertEqual(said("man", "--warnings", "-Tutf8", "-l", page, errors=True), "", page.name)
        self.assertIn("trnvp run trn3-chip", said("man", "-l", MANUALS / "trnvp/man1/trnvp-run.1"))


if __name__ == "__main__":
    unittest.main()
