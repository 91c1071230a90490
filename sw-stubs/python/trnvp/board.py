# SPDX-License-Identifier: Apache-2.0
"""A board that runs in a process of its own."""
from __future__ import annotations

import json
import math
import numbers
import os
import pathlib
import subprocess
from typing import Any, Literal, Mapping, NamedTuple, Sequence, overload

import trnvp_control

from trnvp import programs
from trnvp.errors import CommandError, Ended, LimitReached, MissingProgram, Stalled
from trnvp.process import Process


class Stop(NamedTuple):
    """Why simulated time stopped advancing, and when."""

    reason: str  #: "condition", "time_limit" or "paused"
    text: str  #: the reason in words
    time_ps: int  #: simulated time in ps


class Copied(NamedTuple):
    """A copy that was made."""

    size: int  #: bytes
    simulated_s: float  #: simulated time from the doorbell to the completion, in seconds
    data: bytes | None  #: what arrived at the host; None of a copy to other memory


class Board:
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

    @property
    def time_ps(self) -> int:
        """Simulated time in ps."""
        return int(self._call("status")["time_ps"])

    # -- Time

    def run(
        self,
        duration: str | None = None,
        *,
        until: str | None = None,
        condition: Literal["ready"] | None = None,
        text: str | None = None,
        console: str | None = None,
        wall_limit: float = 60.0,
    ) -> Stop:
        """Lets simulated time advance until the first of these is reached.

        duration: simulated time from now on, with its unit: "1 ms".
        until: simulated time since the start: "10 ms".
        condition: "ready": every chip's firmware is ready.
        text: the console has printed this text since the start; `console` as of console().
        wall_limit: seconds of the host's clock; math.inf: none.

        Raises ValueError without any of these, LimitReached at `wall_limit`, Stalled if no event is pending, and ControlError for
        a time that is none.
        """
        limits: dict[str, Any] = {"for": duration, "until": until, "condition": condition}
        if console is not None and text is None:
            raise ValueError("run() has a console and no text to wait for")
        if text is not None:
            limits["uart"] = {"module": self._console(console), "text": text}
        limits = {key: value for key, value in limits.items() if value is not None}
        if not limits:
            raise ValueError('run() has no limit: give a duration such as "1 ms", until, condition or text')
        if wall_limit != math.inf:
            limits["wall_limit"] = wall_limit
        try:
            stop = self._call("wait", **limits)
        except KeyboardInterrupt:
            self._call("pause")  # ends the wait
            self._call("run")
            raise
        if stop["reason"] == "stalled":
            raise Stalled(stop["text"])
        if stop["reason"] == "wall_limit":
            raise LimitReached(f"{wall_limit:g} s of wall time have passed; simulated time is {stop['time']}")
        if stop["reason"] == "quit":
            raise self._end_of_platform()
        return Stop(stop["reason"], stop["text"], int(stop["time_ps"]))

    def snapshot(self, name: str) -> None:
        """Keeps the present state under this name, for restore(). Raises ControlError."""
        self._call("snapshot", name=name)

    def restore(self, name: str) -> None:
        """Returns to a state that snapshot() kept, any number of times. Raises ControlError."""
        self._call("restore", name=name)
        self._call("run")  # restore pauses

    # -- Registers and memory

    @overload
    def peek(self, name: str, *, index: int = 0, instance: int = 0) -> int:
        ...

    @overload
    def peek(self, name: str, address: int, size: int = 4) -> bytes:
        ...

    def peek(self, name: str, address: int | None = None, size: int = 4, *, index: int = 0, instance: int = 0) -> int | bytes:
        """Reads without side effects.

        peek("chip0.udma0.M2S_PREFETCH_CFG_3"): the value of a register, or of a field behind one more dot. `index`: of an element
        of a register array; `instance`: of a block that the module has several times.
        peek("chip0.hbm0.in", 0x1000, 16): `size` bytes (at most 1 MiB) of an address space.

        Raises ControlError if there is no such register or space, or nothing responds.
        """
        if address is None:
            return int(self._call("peek", register=name, index=index, instance=instance)["value"])
        return bytes.fromhex(self._call("peek", space=name, address=address, size=size)["data"])

    def poke(self, name: str, value: int | bytes, address: int | None = None, *, width: int = 4, index: int = 0, instance: int = 0) -> None:
        """Writes as software does: a doorbell rings, and a read-only register refuses.

        poke("chip0.udma0.M2S_PREFETCH_CFG_3", 3): a register or field; `index` and `instance` as of peek().
        poke("chip0.hbm0.in", b"some bytes", 0x1000): bytes (at most 1 MiB), or a number of `width` bytes (1, 2, 4 or 8), in an
        address space.

        Raises ControlError if there is no such register or space, nothing responds, or software cannot write it.
        """
        self._write("poke", name, value, address, width, index, instance)

    def deposit(
        self, name: str, value: int | bytes, address: int | None = None, *, width: int = 4, index: int = 0, instance: int = 0
    ) -> None:
        """As poke(), without side effects, also what only hardware writes: counters, status, fuses."""
        self._write("deposit", name, value, address, width, index, instance)

    def registers(self, module: str) -> list[dict[str, Any]]:
        """The registers of a module: name, offset, value, fields and more of each (control method `registers`)."""
        found: list[dict[str, Any]] = self._call("registers", module=module)
        return found

    def modules(self) -> list[str]:
        """Full names of all modules."""
        return [str(module["name"]) for module in self._call("list", what="modules")]

    def statistics(self, module: str = "") -> dict[str, dict[str, int]]:
        """Counters since the start, by module and name; of the modules whose names begin with `module`."""
        counters: dict[str, dict[str, int]] = self._call("statistics", module=module) if module else self._call("statistics")
        return counters

    def inject(self, module: str, fault: str, /, **arguments: Any) -> list[str]:
        """Injects a fault (doc/faults.md) into a module, or into all that match a pattern with *; returns their names.
        Raises ControlError if there is none."""
        found: list[str] = self._call("inject", module=module, fault=fault, arguments=arguments)["modules"]
        return found

    # -- Consoles

    def consoles(self) -> list[str]:
        """Full names of the consoles."""
        return [str(console["name"]) for console in self._call("list", what="consoles")]

    def console(self, name: str | None = None) -> str:
        """What a console has printed, at most the last 64 KiB. Without a name: the only console, or the first one."""
        return str(self._call("console", module=self._console(name))["text"])

    def type(self, text: str, name: str | None = None) -> None:
        """Types on a console, as if on its keyboard. Raises ControlError if its input queue is full."""
        self._call("type", module=self._console(name), text=text)

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
            data = _bytes_of(source)
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

    def _console(self, name: str | None) -> str:
        if name is not None:
            return name
        known = self.consoles()
        if not known:
            raise ValueError(f"{self.name} has no console")
        return known[0]

    def _write(self, method: str, name: str, value: int | bytes, address: int | None, width: int, index: int, instance: int) -> None:
        number = isinstance(value, numbers.Integral)  # also NumPy's
        if address is not None and number:
            self._call(method, space=name, address=address, value=value, width=width)
        elif address is not None:
            self._call(method, space=name, address=address, data=_bytes_of(value).hex())
        elif number:
            self._call(method, register=name, value=value, index=index, instance=instance)
        elif _bytes_of(value) is not None:
            raise ValueError(f"{method}() of bytes needs an address in the space '{name}'")


def _bytes_of(data: object) -> bytes:
    """Of bytes, a bytearray, a memoryview or an array. A number or a path has none."""
    try:
        return memoryview(data).tobytes()  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"not bytes, but {type(data).__name__}: {data!r:.40}") from None


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
    words = [name, "--time-policy", time_policy]
    for key, value in (parameters or {}).items():
        words += ["--set", f"{key}={str(value).lower() if isinstance(value, bool) else value}"]
    named = (("--firmware", firmware), ("--seed", seed), ("--timing", timing))
    for option, given in named:
        words += [option, str(given)] if given is not None else []
    made = Board(name, Process([*words, *options], wall_limit))
    if ready:
        try:
            made.run(condition="ready", wall_limit=wall_limit)
        except BaseException:
            made.close()
            raise
    return made
