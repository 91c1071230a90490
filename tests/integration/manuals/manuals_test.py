#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages and completions have what --help has, and their readers accept them: manuals_test.py BUILD [TEST...]"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).absolute()
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

from command_help import commands_in  # noqa: E402 - after the path

MANUALS = BUILD / "manuals"
PROGRAMS = {
    "trnvp": "trnvp",
    "trnctl": "trnvp",
    "trn-asm": "trnvp",
    "trn-ls": "trnvp",
    "trn-top": "trnvp",
    "trn-monitor": "trnvp",
    "trn-nki": "python3-trnvp",
}
ENVIRONMENT = dict(os.environ, PATH=f"{BUILD}:{os.environ['PATH']}", LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")
# Lines before and after TAB, with the folder of programs that are not in PATH before them.
LINES = {
    "trnvp bo": "trnvp boards ",
    "trnvp 'bo": "trnvp 'boards' ",
    "trnvp run trn3-chip --timing f": "trnvp run trn3-chip --timing functional ",
    "trnvp run trn3-chip --timing=f": "trnvp run trn3-chip --timing=functional ",
    "trnctl --connect '/no such' stat": "trnctl --connect '/no such' status ",
    "trnctl topo": "trnctl topology ",
    "trn-nki comp": "trn-nki compile ",
    "trn-nki run --timing=f": "trn-nki run --timing=functional ",
}
OUTSIDE = dict(ENVIRONMENT, PATH=os.environ["PATH"])
IN_BASH = """bind 'set enable-bracketed-paste off'; for script in {scripts}/*/bash/*; do source $script; done
shown() {{ printf '\\n<%s>\\n' "$READLINE_LINE"; }}; bind -x '"\\C-t":shown'
"""
IN_ZSH = """fpath=({scripts}/*/zsh $fpath); autoload -Uz compinit; compinit -D -u; PROMPT_SP=
shown() {{ print -r -- $'\\n'"<$BUFFER>" }}; zle -N shown; bindkey '^T' shown
"""


class Terminal:
    """A shell that completes what is typed. Skips the test if there is none."""

    def __init__(self, test, words, script):
        if shutil.which(words[0]) is None:
            test.skipTest(f"{words[0]} is not installed")
        number, self.link = pty.fork()
        if number == 0:
            os.chdir(test.empty)
            os.execvpe(words[0], words, dict(OUTSIDE, PS1="ready$ ", TERM="dumb", HISTFILE="/dev/null", INPUTRC="/dev/null"))
        test.addCleanup(os.waitpid, number, 0)
        test.addCleanup(os.close, self.link)
        self.until("ready[$] ")
        for line in script.format(scripts=MANUALS).splitlines():
            self.type(line + "\n")
            self.until(r"ready[$] [^\n]*$")

    def type(self, text):
        os.write(self.link, text.encode())

    def until(self, pattern):
        text, end = "", time.monotonic() + 60
        while not (found := re.search(pattern, text)):
            if not select.select([self.link], [], [], max(end - time.monotonic(), 0))[0]:
                raise AssertionError(f"no {pattern} in {text!r}")
            text += os.read(self.link, 65536).decode(errors="replace")
        return found

    def completed(self, line):
        self.type(line + "\t\x14")
        found = self.until(r"\n<(.*)>\r?\n")[1]
        self.type("\x15")
        return found


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
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.empty = scratch.name

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

    def check_lines(self, typed):
        """What each shell makes of lines in which TAB is typed: quotes, joined values, programs outside of PATH."""
        for line, expected in LINES.items():
            with self.subTest(line=line):
                self.assertEqual(typed(f"{BUILD}/{line}"), f"{BUILD}/{expected}")

    def test_bash_completes(self):
        self.check_lines(Terminal(self, ["bash", "--norc", "--noprofile", "-i"], IN_BASH).completed)

    def test_zsh_completes(self):
        self.check_lines(Terminal(self, ["zsh", "-d", "-f", "-i"], IN_ZSH).completed)

    def test_fish_completes(self):
        if shutil.which("fish") is None:
            self.skipTest("fish is not installed")
        scripts = " ".join(map(str, listed("fish")))
        run = f"for script in {scripts}; source $script; end; complete -C $LINE"

        def last_word(line):
            environment = dict(OUTSIDE, LINE=line)
            done = subprocess.run(
                ["fish", "--no-config", "-c", run], env=environment, cwd=self.empty, text=True, capture_output=True, check=False
            )
            return [word.partition("\t")[0] for word in done.stdout.splitlines()]

        for line, expected in LINES.items():
            with self.subTest(line=line):
                self.assertEqual(last_word(f"{BUILD}/{line}"), [expected.split()[-1].strip("'")])

    def test_man_reads_the_pages_without_warnings(self):
        if shutil.which("man") is None:
            self.skipTest("man is not installed")
        for page in listed("man1"):
            self.assertEqual(said("man", "--warnings", "-Tutf8", "-l", page, errors=True), "", page.name)
        self.assertIn("trnvp run trn3-chip", said("man", "-l", MANUALS / "trnvp/man1/trnvp-run.1"))


if __name__ == "__main__":
    unittest.main()
