# SPDX-License-Identifier: Apache-2.0
"""Unread standard output does not stop a platform."""
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import trnvp_control

TRNVP = os.environ["TRNVP"]
F_SETPIPE_SZ = 1031
PAGE = 4096


class UnreadOutput(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def start(self, *words, streams=("stdout",)):
        """The platform and the read end of a pipe of 4 KiB, its `streams`; the others go to a file."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, F_SETPIPE_SZ, PAGE)
        with open(self.folder / "log", "wb") as log:
            files = {"stdout": log, "stderr": log, **dict.fromkeys(streams, writer)}
            platform = subprocess.Popen([TRNVP, *words], **files)
        os.close(writer)
        self.addCleanup(platform.wait)
        self.addCleanup(platform.kill)
        return platform, reader

    def connect(self, platform):
        end = time.monotonic() + 60
        while not (self.folder / "sockets/control.sock").exists():
            self.assertIsNone(platform.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        return trnvp_control.connect(str(self.folder / "sockets"))

    def test_platform_boots_answers_and_ends(self):
        for streams in (("stdout",), ("stderr",), ("stdout", "stderr")):
            with self.subTest(streams=streams):
                platform, _ = self.start("run", "trn3-sled", "--listen", str(self.folder / "sockets"), streams=streams)
                with self.connect(platform) as control:
                    how = control.wait(condition="ready", wall_limit=120)
                    self.assertEqual(how["reason"], "condition")
                    # More than the 4 KiB of an unread pipe.
                    for _ in range(200):
                        control.call("bus_write", space="chip0.management.uart.in", address=0, value=ord("x"))
                platform.send_signal(signal.SIGTERM)
                self.assertIn(platform.wait(30), (0, 1))

    def test_slow_reader_gets_all_output_in_order(self):
        platform, reader = self.start("run", "trn3-sled", "--until", "ready")
        time.sleep(1)
        self.assertIsNone(platform.poll())
        parts = []
        while part := os.read(reader, PAGE):
            parts.append(part)
        self.assertEqual(platform.wait(60), 0)
        plain = subprocess.run(
            [TRNVP, "run", "trn3-sled", "--until", "ready"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
        ).stdout
        self.assertGreater(len(plain), PAGE)
        self.assertEqual(b"".join(parts), plain)

    def test_snapshots_and_restores_lose_no_output(self):
        plain = subprocess.run(
            [TRNVP, "run", "trn3-sled", "--until", "ready"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
        ).stdout
        for restored in (False, True):
            with self.subTest(restored=restored):
                platform, reader = self.start("run", "trn3-sled", "--listen", str(self.folder / "sockets"))
                with self.connect(platform) as control:
                    if restored:
                        control.snapshot(name="start")
                    control.wait(condition="ready", wall_limit=120)
                    control.snapshot(name="ready")
                    if restored:
                        control.restore(name="start")
                    control.call("quit")
                parts = []
                while part := os.read(reader, PAGE):
                    parts.append(part)
                self.assertEqual(platform.wait(60), 0)
                self.assertEqual(b"".join(parts)[: len(plain)], plain)

    def test_lost_output_is_reported(self):
        platform, _ = self.start("run", "trn3-sled", "--listen", str(self.folder / "sockets"))
        with self.connect(platform) as control:
            control.wait(condition="ready", wall_limit=120)
        platform.send_signal(signal.SIGTERM)
        self.assertEqual(platform.wait(30), 1)
        self.assertRegex((self.folder / "log").read_text(), r"trnvp: \d+ bytes of standard output were dropped: they were not read")

    def test_json_line_at_the_end_is_complete(self):
        platform, reader = self.start("run", "trn3-chip", "--until", "ready", "--json")
        lines = []
        with os.fdopen(os.dup(reader)) as text:
            lines = [json.loads(line) for line in text]
        self.assertEqual(platform.wait(60), 0)
        self.assertEqual([line["event"] for line in lines], ["started", "ended"])


if __name__ == "__main__":
    unittest.main()
