# SPDX-License-Identifier: Apache-2.0
"""A `trnvp run` for tests, controlled through its control socket and terminated by its process id.
"""
from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from typing import Iterator

import trnvp_control

BOARD = "tests/integration/firmware/management_board.yaml"
WALL_LIMIT = 300.0  # seconds of wall clock; the machines that run tests are shared


class Running:
    def __init__(self, folder: str, process: subprocess.Popen[bytes]):
        self.folder = folder
        self.process = process

    def connect(self) -> trnvp_control.Platform:
        """Connects as soon as the socket exists."""
        end = time.monotonic() + WALL_LIMIT
        while True:
            try:
                return trnvp_control.connect(self.folder, timeout=WALL_LIMIT)
            except (FileNotFoundError, ConnectionRefusedError):
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"trnvp ended with {self.process.poll()}") from None
                time.sleep(0.01)

    def wait(self) -> int:
        return self.process.wait(WALL_LIMIT)


@contextlib.contextmanager
def platform(*options: str, board: str = BOARD, ignored: signal.Signals | None = None) -> Iterator[Running]:
    """`ignored`: a signal that the caller of the program ignores."""
    with tempfile.TemporaryDirectory(prefix="trnvp_") as folder:
        sockets = os.path.join(folder, "sockets")
        command = [os.environ["TRNVP"], "run", board, "--listen", sockets, *options]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, preexec_fn=ignored and (lambda: signal.signal(ignored, signal.SIG_IGN))
        )
        try:
            yield Running(sockets, process)
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(WALL_LIMIT)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
