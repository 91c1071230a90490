#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every way in which a board ends leaves no process and no folder."""
import gc
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import trnvp

WALL_LIMIT = 60.0  # seconds; the machines that run tests are shared


def has_ended(pid: int) -> bool:
    try:
        return "\nState:\tZ" in pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


class EndsTest(unittest.TestCase):
    def assert_gone(self, pid, folder):
        limit = time.monotonic() + WALL_LIMIT
        while not has_ended(pid) or os.path.exists(folder):
            self.assertLess(time.monotonic(), limit, f"process {pid} or {folder} is left")
            time.sleep(0.02)

    def script(self, text, status=0):
        """Runs Python, whose script starts `board` and prints; status as of subprocess.Popen."""
        with tempfile.TemporaryFile() as errors:
            head = "import os, signal, sys, trnvp\nboard = trnvp.start(ready=False)\n"
            head += "print(board._process.pid, board.sockets.parent, flush=True)\n"
            python = subprocess.Popen([sys.executable, "-c", head + text], stdout=subprocess.PIPE, stderr=errors, text=True)
            pid, folder = python.stdout.readline().split()
            self.assertEqual(python.wait(WALL_LIMIT), status)
            python.stdout.close()
            errors.seek(0)
            said = errors.read().decode()
        self.assert_gone(int(pid), folder)
        return said

    def test_scripts(self):
        self.assertEqual(self.script(""), "")
        self.assertIn("ZeroDivisionError", self.script("1 / 0", status=1))
        self.assertEqual(self.script("sys.exit(3)", status=3), "")
        self.assertEqual(self.script("os._exit(4)", status=4), "")
        self.assertEqual(self.script("os.kill(os.getpid(), signal.SIGTERM)", status=-signal.SIGTERM), "")
        self.assertEqual(self.script("os.kill(os.getpid(), signal.SIGKILL)", status=-signal.SIGKILL), "")
        self.assertEqual(self.script("os.kill(board._process.pid, signal.SIGSTOP)\nos._exit(0)"), "")

    def test_exception_and_second_close(self):
        with self.assertRaises(ZeroDivisionError), trnvp.start(ready=False) as board:
            pid, folder = board._process.pid, board.sockets.parent
            1 / 0
        self.assert_gone(pid, folder)
        board.close()
        self.assertEqual(repr(board), "<trnvp.Board trn3-chip, closed>")
        for call in (lambda: board.time_ps, lambda: board.copy(b"abc", "hbm0"), lambda: board.trnctl("status")):
            with self.assertRaisesRegex(trnvp.Ended, "^the board is closed$"):
                call()

    def test_garbage(self):
        board = trnvp.start(ready=False)
        pid, folder = board._process.pid, board.sockets.parent
        del board
        gc.collect()
        self.assert_gone(pid, folder)

    def test_board_outlives_the_thread_that_started_it_and_a_forked_child(self):
        made = []
        thread = threading.Thread(target=lambda: made.append(trnvp.start(ready=False)))
        thread.start()
        thread.join()
        child = os.fork()
        if child == 0:
            try:
                made[0].close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        with made[0] as board:
            self.assertEqual(board.run("1 us").time_ps, 1_000_000)

    def test_platform_that_dies_in_the_middle(self):
        with trnvp.start(ready=False, time_policy="realtime:0.001") as board:
            threading.Timer(0.3, os.kill, (board._process.pid, signal.SIGKILL)).start()
            with self.assertRaisesRegex(trnvp.Ended, "^the platform was ended by SIGKILL"):
                board.run("10 s")
            for call in (lambda: board.time_ps, lambda: board.copy(b"abc", "hbm0"), lambda: board.run("1 us")):
                with self.assertRaisesRegex(trnvp.Ended, "^the platform was ended by SIGKILL"):
                    call()
            self.assertEqual(repr(board), "<trnvp.Board trn3-chip, ended>")
            folder = board.sockets.parent
        self.assertFalse(folder.exists())

    def test_platform_that_ends_by_itself_says_why(self):
        with trnvp.start(ready=False) as board:
            board.control.quit()
            with self.assertRaisesRegex(trnvp.Ended, "^the platform ended with status 0"):
                board.run("1 ms")


if __name__ == "__main__":
    unittest.main()
