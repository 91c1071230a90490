#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The runner of samples: tool_test.py"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from checks import Checks
from page import samples_of
from samples_test import Page
from shell import Shell, is_running
from tree import Tree

HERE = pathlib.Path(__file__).parent


class Samples(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="samples-")))
        subprocess.run(["git", "init", "--quiet", self.root], check=True)
        (self.root / "build").mkdir()
        (self.root / "doc").mkdir()
        (self.root / "doc/kept.txt").write_text("kept\n")
        self.tree = Tree(self.root, self.root / "build")

    def shell(self, seconds=60.0):
        return Shell(self.tree, time.monotonic() + seconds, "cat doc/kept.txt")

    def problems(self, *lines):
        """What is wrong with a page of these lines."""
        (self.root / "page.md").write_text("\n".join(lines) + "\n")
        return Page("page.md", self.tree, time.monotonic() + 60, False).run()

    def test_a_command_in_the_background_that_fails_is_reported(self):
        (problem,) = self.problems(
            "```sh", "(echo lost; exit 3) &", "while kill -0 $!; do sleep 0.01; done 2> tmp/ends", "sleep 60 &", "```"
        )
        self.assertRegex(problem, r"page.md:2: '\(echo lost; exit 3\) &' ended with status 3:\nlost$")

    def test_a_command_in_the_background_that_the_page_ends_is_not(self):
        self.assertEqual(self.problems("```sh", "sleep 60 &", "kill $!; wait $! || true", "sleep 60 &", "kill $!", "sleep 0.1", "```"), [])

    def test_a_job_that_ends_without_its_socket_is_not_waited_for(self):
        begin = time.monotonic()
        (problem,) = self.problems("```sh", "sh -c 'exit 2' --listen run &", "```")
        self.assertIn("ended with status 2", problem)
        self.assertLess(time.monotonic() - begin, 30)

    def test_a_command_that_does_not_end_is_named_and_ends_the_page(self):
        (self.root / "page.md").write_text("```sh\nsleep 60\necho more\n```\n```console\n$ echo more\nless\n```\n")
        self.assertEqual(Page("page.md", self.tree, time.monotonic() + 0.5, False).run(), ["page.md:2: 'sleep 60' did not end"])

    def test_a_command_that_ends_the_shell_is_named(self):
        self.assertEqual(self.problems("```sh", "exit 0", "echo more", "```"), ["page.md:2: 'exit 0' ended the shell"])

    def test_processes_that_left_the_group_end_with_the_page(self):
        with self.shell() as shell:
            status, (process,) = shell.run(
                "setsid sh -c 'echo $$ > tmp/own; exec sleep 60' & until test -s tmp/own; do sleep 0.01; done; cat tmp/own"
            )
            self.assertEqual((status, is_running(int(process))), (0, True))
        deadline = time.monotonic() + 10
        while is_running(int(process)) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(is_running(int(process)))

    def test_a_process_that_ends_while_the_page_ends_is_no_mistake(self):
        with self.shell() as shell:
            shell.own_processes = lambda: [2**22 + 1]  # more than Linux gives

    def test_a_status_other_than_0_needs_the_mark_fails(self):
        sample = ("$ echo shown; false", "shown", "```")
        (problem,) = self.problems("```console", *sample)
        self.assertIn("page.md:2: 'echo shown; false' ended with status 1", problem)
        self.assertEqual(self.problems("```console fails", *sample), [])
        (problem,) = self.problems("```console fails", "$ echo shown", "shown", "```")
        self.assertIn("page.md:1: the sample is marked 'fails', and all its commands end with status 0", problem)
        (problem,) = self.problems("```yaml fails", "a: b", "```")
        self.assertIn("only commands can fail: the mark 'fails' is for console and sh", problem)
        (problem,) = self.problems("```sh fails: because", "true", "```")
        self.assertIn("is not LANGUAGE [FILE] [fails | not run: REASON]", problem)

    def test_a_fence_that_is_not_closed_is_reported(self):
        (problem,) = self.problems("text", "```sh", "true", "```", "```console", "$ false", "lost")
        self.assertIn("page.md:5: the fence is not closed", problem)
        self.assertEqual([sample.line for sample in samples_of("```\n$ true\n```\n")], [1])

    def test_a_missing_program_is_a_sentence(self):
        self.assertEqual(
            Checks(self.root, self.root / "build", self.root).do("no-such-program", "-x"), (127, "no-such-program is not installed")
        )
        for variables, words in ({"PATH": "/nonexistent"}, "git is not installed"), ({"GIT_DIR": "/nonexistent"}, "git ls-files"):
            done = subprocess.run(
                [sys.executable, HERE / "samples_test.py", self.root, "README.md"],
                env=os.environ | variables,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"^samples: {words}")
            self.assertNotIn("Traceback", done.stderr)

    def test_samples_do_not_change_the_tree(self):
        with self.shell() as shell:
            self.assertEqual(shell.run("cat doc/kept.txt"), (0, ["kept"]))
            modes = [f"{(self.root / name).stat().st_mode & 0o777:o}" for name in ("doc", "doc/kept.txt")]
            self.assertEqual(shell.run("stat -c %a doc doc/kept.txt"), (0, modes), "a user may change a copy of them")
            shell.run("echo changed > doc/kept.txt; touch doc/new.txt build/new.txt; rm -f doc/kept.txt")
        self.assertEqual([path.name for path in (self.root / "doc").iterdir()], ["kept.txt"])
        self.assertEqual((self.root / "doc/kept.txt").read_text(), "kept\n")
        self.assertEqual(list((self.root / "build").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
