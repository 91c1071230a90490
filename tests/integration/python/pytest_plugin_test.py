#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The fixture `board` in pytest, and the types of the package in mypy --strict."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = """
import pytest

def test_default(board):
    assert board.name == "trn3-chip" and board.peek("chip0.udma0.M2S_PREFETCH_CFG_3") != 3
    board.poke("chip0.udma0.M2S_PREFETCH_CFG_3", 3)

def test_each_test_has_a_board_of_its_own(board):
    assert board.peek("chip0.udma0.M2S_PREFETCH_CFG_3") != 3

@pytest.mark.board("trn2-chip", ready=False)
def test_marker(board):
    assert (board.name, board.time_ps) == ("trn2-chip", 0)

@pytest.mark.parametrize("board", ["trn1-chip", "trn2-chip"], indirect=True)
def test_parameter(board, request):
    assert board.control.about["board"] == request.node.callspec.params["board"]

def test_fails(board):
    board.run(text="boot ROM")
    assert board.peek("chip0.udma0.M2S_PREFETCH_CFG_3") == 3

@pytest.mark.board(board="trn1-chip", ready=False)
def test_marker_with_a_named_argument(board):
    assert board.name == "trn1-chip"

@pytest.mark.board("trn1-chip", "trn2-chip")
def test_marker_with_two_boards(board):
    pass

@pytest.mark.board("trn9-chip")
def test_no_board(board):
    pass
"""
SCRIPT = """
import trnvp

with trnvp.start("trn3-chip", parameters={"server_id": 3}) as board:
    value: int = board.peek("chip0.udma0.M2S_PREFETCH_CFG_3")
    data: bytes = board.peek("chip0.hbm0.in", 0, 16)
    board.copy(data, "hbm0@16MiB")
    count: int = board.statistics()["chip0.h2t0"]["bytes"]
    try:
        time: int = board.run("1 ms").time_ps
    except trnvp.Stalled as error:
        print(error)
"""


class PluginTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "tmp").mkdir()

    def run_module(self, *words):
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.folder,
            env=dict(os.environ, TMPDIR=str(self.folder / "tmp")),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def test_fixture(self):
        (self.folder / "test_boards.py").write_text(TESTS)
        status, said = self.run_module("pytest", "-p", "trnvp.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers", "-q")
        self.assertEqual(status, 1, said)
        self.assertIn("1 failed, 6 passed, 2 errors", said)
        self.assertIn("console chip0.management.uart", said)
        self.assertIn("boot ROM", said)
        self.assertIn("start() takes from 0 to 1 positional arguments but 2 were given", said)
        self.assertIn("trnvp.errors.StartError: E55 no board 'trn9-chip'", said)
        self.assertEqual([file.name for file in (self.folder / "tmp").iterdir() if file.name.startswith("trnvp_")], [])

    def test_option(self):
        (self.folder / "test_boards.py").write_text("def test_board(board): assert board.name == 'trn1-chip'\n")
        status, said = self.run_module("pytest", "-p", "trnvp.pytest_plugin", "-p", "no:cacheprovider", "--trnvp-board=trn1-chip")
        self.assertEqual(status, 0, said)

    def test_types(self):
        (self.folder / "script.py").write_text(SCRIPT)
        status, said = self.run_module("mypy", "--strict", "--cache-dir=cache", "script.py")
        if "No module named mypy" in said:
            self.skipTest("mypy is not installed")
        self.assertEqual(status, 0, said)
        (self.folder / "script.py").write_text(SCRIPT + "text: str = board.time_ps\n")
        self.assertEqual(self.run_module("mypy", "--strict", "--cache-dir=cache", "script.py")[0], 1)


if __name__ == "__main__":
    unittest.main()
