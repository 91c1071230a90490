# SPDX-License-Identifier: Apache-2.0
"""A `trnvp run` and the folder of its sockets, which end with the object or with this process."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from typing import Sequence

import trnvp_control

from trnvp import programs
from trnvp.errors import Ended, MissingProgram, StartError

_MAX_FOLDER = 60  # bytes: a socket's path has at most 107
_SHOWN_LINES = 20  # of what the platform printed, in an exception
_END_SECONDS = 10.0  # from SIGTERM to SIGKILL

# Reads a line when the board is closed. The end of its input without a line: this process was killed.
_GUARD = """read -r closed && exit
kill "$1"
for second in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$1" || break; sleep 1; done
kill -9 "$1"
rm -rf "$2"
"""


class Process:
    """Precondition of all methods but close(): close() has not been called."""

    def __init__(self, words: Sequence[str], seconds: float):
        """Starts `trnvp run WORDS` and waits until it serves its control socket. Raises MissingProgram, StartError."""
        program = programs.path("trnvp")
        self.folder = pathlib.Path(_new_folder())
        self.sockets = self.folder / "sockets"
        command = [program, "run", *words, "--listen", str(self.sockets), "--json", "--uart", "none"]
        try:
            self._process = _spawned(command, self.folder)
        except BaseException as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise MissingProgram(f"{program} cannot be started: {error.strerror}") from None
            raise
        guard = None
        links: list[trnvp_control.Platform] = []
        try:
            guard = _guard(self._process.pid, self.folder)
        finally:
            self._end = weakref.finalize(self, _end, links, self._process, guard, self.folder, os.getpid())
            if guard is None:
                self._end()
        try:
            self.control = self._connected(seconds)
            links.append(self.control)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def closed(self) -> bool:
        return not self._end.alive

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Whether the platform has ended, or does within this time."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def ended(self) -> Ended:
        """The exception of a platform that has ended: how, and what it printed last."""
        status = self._process.returncode
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        return Ended("\n".join([f"the platform {how}", *filter(None, [_reason(self.folder / "output"), self._sentences()])]))

    def close(self) -> None:
        """Ends the platform and removes its folder. Does nothing the second time."""
        self._end()

    def _sentences(self) -> str:
        lines = (self.folder / "errors").read_text(errors="replace").rstrip().splitlines()
        return "\n".join(lines[-_SHOWN_LINES:])

    def _connected(self, seconds: float) -> trnvp_control.Platform:
        limit = time.monotonic() + seconds
        while True:
            ended = self.has_ended()
            try:
                return trnvp_control.connect(self.sockets / "control.sock", timeout=seconds)
            except (FileNotFoundError, ConnectionRefusedError, trnvp_control.Disconnected):
                pass
            except TimeoutError:
                limit = 0.0
            if ended:
                status = self._process.returncode
                raise StartError(self._sentences() or str(self.ended()), status) from None
            if time.monotonic() > limit:
                raise StartError(f"trnvp did not serve its sockets within {seconds:g} s") from None
            time.sleep(0.005)


def _new_folder() -> str:
    try:
        return _short_folder()
    except OSError as error:
        raise StartError(f"there is no folder for temporary files: {error.strerror}") from None


def _short_folder() -> str:
    folder = tempfile.mkdtemp(prefix="trnvp_")
    if len(os.fsencode(folder)) <= _MAX_FOLDER:
        return folder
    os.rmdir(folder)
    return tempfile.mkdtemp(prefix="trnvp_", dir="/tmp")


def _spawned(command: list[str], folder: pathlib.Path) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C is for the caller, whose exception closes the board.
    with open(folder / "output", "wb") as output, open(folder / "errors", "wb") as errors:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True)


def _guard(pid: int, folder: pathlib.Path) -> subprocess.Popen[bytes]:
    """Ends the platform and removes its folder when this process is killed."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "trnvp-guard", str(pid), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def _end(
    links: list[trnvp_control.Platform],
    process: subprocess.Popen[bytes],
    guard: subprocess.Popen[bytes] | None,
    folder: pathlib.Path,
    owner: int,
) -> None:
    for link in links:
        link.close()
    if os.getpid() != owner:  # a forked child does not own the platform
        return
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if guard is not None:
        try:
            guard.communicate(b"closed\n")
        except BrokenPipeError:
            guard.wait()
    shutil.rmtree(folder, ignore_errors=True)


def _reason(file: pathlib.Path) -> str:
    """The reason in the last line of --json; "" without one."""
    for line in reversed(file.read_text(errors="replace").splitlines()):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("event") == "ended":
            return str(event.get("text", ""))
    return ""
