#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels on a platform that is already running, through its sockets: attached_test.py BUILD
[TEST...]"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["TRNVP_BUILD"] = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "sw-stubs/python"), str(ROOT / "scenarios/kernels")]

import numpy  # noqa: E402 - after the path
import tiles  # noqa: E402
from trn_nki.run import RunError, platform  # noqa: E402
from trn_nki.values import generations  # noqa: E402


class Attached(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.sockets = folder.name
        cls.trnvp = subprocess.Popen(
            [f"{BUILD}/trnvp", "run", "trn2-chip", "--listen", cls.sockets, "--uart", "none", "--json"], stdout=subprocess.PIPE, text=True
        )
        cls.addClassCleanup(cls.end)
        if not cls.trnvp.stdout.readline():  # a line of its sockets, once they listen
            raise AssertionError(f"trnvp ended with status {cls.trnvp.wait(30)}")

    @classmethod
    def end(cls):
        cls.trnvp.send_signal(signal.SIGTERM)
        cls.trnvp.communicate(timeout=30)

    def command(self, *words):
        command = [f"{BUILD}/trn-nki", "run", *words, "--connect", self.sockets, "--generation", "trn2"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def test_kernels_follow_each_other_on_cores_of_one_chip(self):
        x = numpy.random.default_rng(7).standard_normal((128, 512)).astype(numpy.float32)
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(f"{folder}/x.npy", x)
            for core in ("0", "5"):
                done = self.command(
                    f"{ROOT}/scenarios/kernels/tiles.py:softmax",
                    "--core",
                    core,
                    "--in",
                    f"x={folder}/x.npy",
                    "--out",
                    f"y={folder}/y.npy",
                    "--check",
                    "simulate",
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, r"^ran \d+\.\d{3} us of simulated time\nresult 0: largest difference")
                numpy.testing.assert_allclose(numpy.load(f"{folder}/y.npy").sum(axis=1), 1, rtol=1e-5)
        with platform(connect=self.sockets, core=3), generations.targeting("gen3"):
            numpy.testing.assert_array_equal(tiles.add(x, x), x + x)

    def test_a_core_that_the_chip_lacks_is_a_mistake_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(f"{folder}/x.npy", numpy.ones((128, 512), numpy.float32))
            done = self.command(f"{ROOT}/scenarios/kernels/tiles.py:softmax", "--core", "99", "--in", f"x={folder}/x.npy")
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn("no core 99: Trainium2 has 8", done.stderr)
        for words in (["dump"], ["counters"]):
            done = subprocess.run(
                [f"{BUILD}/trnctl", "--connect", self.sockets, "program", *words, "--core", "99"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn("no core 99: Trainium2 has 8", done.stderr)

    def test_a_kernel_of_another_generation_is_refused(self):
        with platform(connect=self.sockets), generations.targeting("gen4"):
            with self.assertRaisesRegex(RunError, "(?i)not supported"):
                tiles.add(numpy.ones((128, 512), numpy.float32), numpy.ones((128, 512), numpy.float32))


if __name__ == "__main__":
    unittest.main()
