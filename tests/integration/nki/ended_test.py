#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""trn-nki ended by a signal while trnctl runs a kernel: ended_test.py BUILD [TEST...]"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).absolute()
ROOT = pathlib.Path(__file__).resolve().parents[3]

import numpy  # noqa: E402 - of the distribution


class Ended(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for name in ("tools", "tmp"):
            (self.folder / name).mkdir()
        (self.folder / "tools/trn-asm").symlink_to(BUILD / "trn-asm")
        trnctl = self.folder / "tools/trnctl"  # a board that does not end
        trnctl.write_text(f"#!/bin/sh\necho $$ >{self.folder}/new && mv {self.folder}/new {self.folder}/pid\nexec sleep 600\n")
        trnctl.chmod(0o755)
        numpy.save(self.folder / "x.npy", numpy.ones((128, 512), numpy.float32))

    def until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def has_ended(self, pid):
        try:
            return "\nState:\tZ" in pathlib.Path(f"/proc/{pid}/status").read_text()
        except FileNotFoundError:
            return True

    def ended_by(self, number):
        """The status of trn-nki; trnctl has ended too."""
        (self.folder / "pid").unlink(missing_ok=True)
        nki = subprocess.Popen(
            [BUILD / "trn-nki", "run", f"{ROOT}/scenarios/kernels/tiles.py:softmax", "--in", f"x={self.folder}/x.npy"],
            env=dict(os.environ, TRNVP_BUILD=str(self.folder / "tools"), TMPDIR=str(self.folder / "tmp")),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.until((self.folder / "pid").exists)
        trnctl = int((self.folder / "pid").read_text())
        nki.send_signal(number)
        status = nki.wait(30)
        self.until(lambda: self.has_ended(trnctl))
        return status

    def test_termination_ends_trnctl_and_removes_the_folder(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            self.assertEqual(self.ended_by(number), 128 + number)
            self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def test_trnctl_ends_with_a_killed_parent(self):
        self.assertEqual(self.ended_by(signal.SIGKILL), -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
