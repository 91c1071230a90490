# SPDX-License-Identifier: Apache-2.0
"""A board that runs in a process of its own."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any, Literal, Mapping, NamedTuple, Sequence

import trnvp_control

from trnvp import programs
from trnvp.errors import CommandError, Ended, LimitReached, MissingProgram
from trnvp.methods import Methods, bytes_of, option_words, wall_limits
from trnvp.process import Process


class Copied(NamedTuple):
    """A copy that was made."""

    size: int  #: bytes
    simulated_s: float  #: simulated time from the doorbell to the completion, in seconds
    data: bytes | None  #: what arrived at the host; None of a copy to other memory


class Board(Methods):
    """A running board. trnvp.start() makes one.

    Use it in a `with` statement, or call close(). It also ends when it is garbage, and when Python ends for any reason. Every
    method raises trnvp.Ended if the platform has ended.

    Simulated time advances inside of run(), copy() and trnctl() only (time policy `lockstep`), so that a script does the same each time.
    """

    def __init__(self, name: str, process: Process):
        self._process = process
        self.name = name  #: as given to start()

    def __enter__(self) -> Board:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._process.closed:
            return f"<trnvp.Board {self.name}, closed>"
        if self._process.has_ended():
            return f"<trnvp.Board {self.name}, ended>"
        return f"<trnvp.Board {self.name}, process {self._process.pid}>"

    def close(self) -> None:
        """Ends the platform and removes its folder. Does nothing the second time."""
        self._process.close()

    @property
    def control(self) -> trnvp_control.Platform:
        """The session on the control socket: every control method (doc/control-methods.md) is a method of it."""
        if self._process.closed:
            raise Ended("the board is closed")
        return self._process.control

    @property
    def sockets(self) -> pathlib.Path:
        """The folder of its sockets, for `trnctl --connect` and for hosts. It is removed with the board."""
        return self._process.sockets

    # -- Time

    def snapshot(self, name: str) -> None:
        """Keeps the present state under this name, for restore(). Raises ControlError."""
        self._call("snapshot", name=name)

    def restore(self, name: str) -> None:
        """Returns to a state that snapshot() kept, any number of times. Raises ControlError."""
        self._call("restore", name=name)
        self._call("run")  # restore pauses

    # -- The host's side

    def copy(
        self,
        source: str | bytes | bytearray | memoryview,
        destination: str,
        size: int | None = None,
        *,
        chip: str | None = None,
        core: int | None = None,
        verify: bool = False,
    ) -> Copied:
        """Copies by DMA, with the driver stub, and waits for the completion.

        source: the host's bytes, or a place in the chip: "hbm0@16MiB", "sbuf3@0x1000", "axi@ADDRESS".
        destination: a place, or "host": the result has the bytes.
        size: bytes; needed unless `source` has them.
        chip: its name ("chip0"), if the board has several.
        core: whose queue is used.
        verify: compare both ends afterwards.

        The driver probes and resets the chip first, as each start of a driver does: cores stop, registers of the DMA engines lose
        what was poked, and memory keeps its contents. Raises CommandError, and ValueError without a size.
        """
        words = ["copy"]
        sent = self._process.folder / "sent"
        received = self._process.folder / "received"
        if isinstance(source, str):
            if size is None:
                raise ValueError("copy() from a place needs a size in bytes")
            words += [source, destination, f"{size}B"]
        else:
            data = bytes_of(source)
            if size not in (None, len(data)):
                raise ValueError(f"copy() of {len(data)} bytes cannot have the size {size}")
            if not data:
                raise ValueError("a copy of 0 bytes")
            words += ["host", destination, f"{len(data)}B", "--in", str(sent)]
        to_host = destination.partition("@")[0] == "host"
        if to_host:
            words += ["--out", str(received)]
        words += ["--core", str(core)] if core is not None else []
        words += ["--verify"] if verify else []
        self._check_open()
        try:
            if not isinstance(source, str):
                sent.write_bytes(data)
            (result,) = self.trnctl(*words, chip=chip)
            return Copied(int(result["bytes"]), float(result["simulated_s"]), received.read_bytes() if to_host else None)
        finally:
            sent.unlink(missing_ok=True)
            received.unlink(missing_ok=True)

    def trnctl(self, *words: str, chip: str | None = None, wall_limit: float = 600.0) -> list[dict[str, Any]]:
        """Runs a command of trnctl on this board: trnctl("topology"). Returns what it prints with --json.

        Raises CommandError with its message, and LimitReached after `wall_limit` seconds of the host's clock.
        """
        self._check_open()
        command = [programs.path("trnctl"), "--connect", str(self.sockets), "--json"]
        command += [*(("--chip", chip) if chip is not None else ()), *map(str, words)]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=wall_limit, check=False)
        except subprocess.TimeoutExpired:
            raise LimitReached(f"trnctl {' '.join(command[4:])} took longer than {wall_limit:g} s and was ended") from None
        except OSError as error:
            raise MissingProgram(f"{command[0]} cannot be started: {error.strerror}") from None
        if done.returncode != 0:
            if self._process.has_ended(0.2):
                raise self._process.ended()
            message = done.stderr.strip().removeprefix("trnctl: ") or f"trnctl ended with status {done.returncode}"
            raise CommandError(message, done.returncode)
        try:
            return [json.loads(line) for line in done.stdout.splitlines()]
        except ValueError:
            raise CommandError(f"trnctl {' '.join(command[4:])} prints text, and nothing for a program", 2) from None

    # -- Calls

    def _wait(self, limits: dict[str, Any], wall_limit: float) -> Mapping[str, Any]:
        try:
            stop: dict[str, Any] = self._call("wait", **limits, **wall_limits(wall_limit))
        except KeyboardInterrupt:
            self._call("pause")  # ends the wait
            self._call("run")
            raise
        if stop["reason"] == "quit":
            raise self._end_of_platform()
        return stop

    def _call(self, method: str, /, **parameters: Any) -> Any:
        try:
            return self.control.call(method, **parameters)
        except (trnvp_control.Disconnected, OSError) as error:
            if isinstance(error, TimeoutError):
                raise LimitReached(f"the platform did not answer '{method}' in time") from None
            raise self._end_of_platform() from None

    def _end_of_platform(self) -> Ended:
        if self._process.has_ended(10.0):
            return self._process.ended()
        return Ended("the platform has closed the connection")

    def _check_open(self) -> None:
        if self._process.closed:
            raise Ended("the board is closed")
        if self._process.has_ended():
            raise self._process.ended()


def start(
    board: str | os.PathLike[str] = "trn3-chip",
    *,
    parameters: Mapping[str, object] | None = None,
    firmware: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    timing: Literal["contended", "functional"] | None = None,
    time_policy: str = "lockstep",
    options: Sequence[str] = (),
    ready: bool = True,
    wall_limit: float = 120.0,
) -> Board:
    """Starts a board and waits until its firmware is ready.

    board: a name of `trnvp boards`, or a file.
    parameters: of the board: {"server_id": 3, "operand_crc": True}.
    firmware: flash image or ELF file, in place of the board's.
    seed: of every random stream.
    timing: whether resources are contended (the default).
    time_policy: "lockstep", "free" or "realtime:FACTOR" (doc/time.md).
    options: further options of `trnvp run`: ["--trace", "boot.trace"].
    ready: False: returns at simulated time 0.
    wall_limit: seconds of the host's clock, for each of start and boot.

    Raises StartError with the platform's message, MissingProgram, and LimitReached or Stalled if the firmware does not become ready.
    """
    if isinstance(options, str):
        raise TypeError(f"options is a list of words, such as {options.split()}")
    name = os.fspath(board)
    words = option_words(parameters, {"--firmware": firmware, "--seed": seed, "--timing": timing, "--time-policy": time_policy})
    made = Board(name, Process([name, *words, *options], wall_limit))
    if ready:
        try:
            made.run(condition="ready", wall_limit=wall_limit)
        except BaseException:
            made.close()
            raise
    return made
