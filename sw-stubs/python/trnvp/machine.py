# SPDX-License-Identifier: Apache-2.0
"""A board inside of this process."""
from __future__ import annotations

import ctypes
import json
import operator
import os
import pickle
import re
import select
import signal
import sys
import time
import weakref
from typing import Any, Callable, Literal, Mapping, NamedTuple, Sequence, TypeVar

from trnvp_control import Error

from trnvp import library
from trnvp.errors import Ended, InvalidArgument, LimitReached, StartError
from trnvp.methods import Methods, Stop, option_words, wall_limits

Result = TypeVar("Result")

_SLICE_S = 0.1  # of wall time between two looks for Ctrl-C
_UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
_NEVER = 2**64 - 1


class HostMemory(NamedTuple):
    """Memory of the host that a function reaches by DMA. Valid until Function.free() or Machine.close()."""

    data: memoryview  #: its bytes
    iova: int  #: its address for the function


class Machine(Methods):
    """A board inside of this process, through libtrnvp.so: no second process, no socket.

    A process has one, also after close(), because SystemC elaborates once; copies of the process (in_copy(), os.fork()) continue it
    independently. All calls come from the thread that made it. Simulated time advances in calls that say so only.

    Callbacks run inside of such calls. They may read and write memory; a call that advances time raises Unavailable. What they raise is
    raised by the call that runs, which ends at once.
    """

    def __init__(
        self,
        board: str | os.PathLike[str] = "trn3-chip",
        *,
        parameters: Mapping[str, object] | None = None,
        firmware: str | os.PathLike[str] | None = None,
        seed: int | None = None,
        timing: Literal["contended", "functional"] | None = None,
        options: Sequence[str] = (),
        ready: bool = True,
        wall_limit: float = 120.0,
    ):
        """Builds a board, and runs it until its firmware is ready. The arguments are those of trnvp.start().

        Raises StartError with the mistakes in board and options, Unavailable if this process has or had a machine, MissingProgram
        without libtrnvp.so, and LimitReached or Stalled if the firmware does not become ready.
        """
        self._library = library.load()
        self.name = os.fspath(board)  #: as given
        self._handle = library.Handle()
        self._callbacks: dict[object, object] = {}  # what C refers to
        self._raised: BaseException | None = None  # by a callback
        words = option_words(parameters, {"--firmware": firmware, "--seed": seed, "--timing": timing}) + list(options)
        encoded = [word.encode() for word in words]
        status = self._library.trnvp_create(
            self.name.encode(), len(encoded), (ctypes.c_char_p * len(encoded))(*encoded), ctypes.byref(self._handle)
        )
        if status == library.REFUSED:
            raise StartError(library.last_error())
        if status != library.OK:
            raise library.exception(status)
        self._end = weakref.finalize(self, _destroy, self._library, self._handle, os.getpid())
        if ready:
            try:
                self.run(condition="ready", wall_limit=wall_limit)
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<trnvp.Machine {self.name}{'' if self._end.alive else ', closed'}>"

    def close(self) -> None:
        """Completes files such as a trace, and ends the machine. Does nothing the second time. Raises Error if a file is incomplete."""
        if self._end.detach() is not None:
            self._check(self._library.trnvp_destroy(self._handle))

    # -- Time

    @property
    def time_ps(self) -> int:
        """Simulated time in ps."""
        self._check_open()
        return int(self._library.trnvp_time_ps(self._handle))

    def run_until_true(self, condition: Callable[[], object], *, limit_ps: int | None = None, wall_limit: float = 60.0) -> Stop:
        """Lets time advance until condition() is true. It is called at the start, and after events at the next multiple of 10 us.

        Returns the reason "condition", or "time_limit" at the simulated time `limit_ps`. Raises LimitReached after `wall_limit`
        seconds of the host's clock, and Stalled if no event is pending.
        """
        self._check_open()

        def evaluate(_: object) -> int:
            return int(bool(self._guarded(condition)) or self._raised is not None)

        limit = _NEVER if limit_ps is None else limit_ps
        callback = library.CONDITION(evaluate)
        status = self._library.trnvp_run_until_true(self._handle, callback, None, _number(limit, "limit_ps"), wall_limit)
        self._reraise()
        if status not in (library.OK, library.TIME_LIMIT):
            raise library.exception(status)
        return Stop("condition" if status == library.OK else "time_limit", library.last_error() if status else "", self.time_ps)

    # -- Memory

    def map(self, space: str, address: int, size: int, *, writable: bool = False) -> memoryview:
        """Plain memory of an address space. Accesses take no time, and no fault, protection or trace sees them. Valid until close().

        Raises ControlError if it is not plain memory, or with `writable` if the model must see each write, as HBM.
        """
        self._check_open()
        pointer = ctypes.c_void_p()
        place = space.encode(), _number(address, "address"), _number(size, "size"), int(writable)
        self._check(self._library.trnvp_map(self._handle, *place, ctypes.byref(pointer)))
        view = _view(pointer, size)
        return view if writable else view.toreadonly()

    # -- Callbacks

    def on_console(self, callback: Callable[[str, bytes], object] | None) -> None:
        """Calls callback(console, text) for what consoles print from now on; None: no longer."""

        def received(_: object, console: bytes, text: Any, size: int) -> None:
            if callback is not None:
                self._guarded(callback, console.decode(), bytes(text[:size]))

        self._check_open()
        made = library.ON_TEXT(received) if callback is not None else ctypes.cast(0, library.ON_TEXT)
        self._check(self._library.trnvp_on_console(self._handle, made, None))
        self._callbacks["console"] = made

    def function(self, name: str | None = None) -> Function:
        """A PCIe function as its host sees it: "chip0"; without a name, the first chip. Raises ControlError if there is none."""
        if name is None:
            chips = [one["name"] for one in self.call("list", what="functions") if one["chip"]]
            if not chips:
                raise InvalidArgument(f"{self.name} has no chip")
            name = chips[0]
        self._check_open()
        handle = library.Handle()
        self._check(self._library.trnvp_find_function(self._handle, name.encode(), ctypes.byref(handle)))
        return Function(self, name, handle)

    # -- Copies

    def in_copy(self, work: Callable[..., Result], *arguments: object, wall_limit: float = 600.0) -> Result:
        """Calls work(*arguments) in a copy of this process, and returns or raises what it does; this process keeps its state, so that
        each copy starts from it. What is returned must be picklable.

        Raises ControlError where copies would share a file or memory (--trace, shared_hbm), LimitReached after `wall_limit` seconds,
        and Ended if the copy was killed.
        """
        self._check_open()
        self._check(self._library.trnvp_check_fork(self._handle))
        sys.stdout.flush()
        sys.stderr.flush()
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _work_in_copy(writer, work, arguments)
        os.close(writer)
        try:
            sent = _read_all(reader, wall_limit)
        except BaseException:
            os.kill(child, signal.SIGKILL)
            raise
        finally:
            os.close(reader)
            _, status = os.waitpid(child, 0)
        if not sent:
            raise Ended(f"the copy ended with status {os.waitstatus_to_exitcode(status)}")
        good, result = pickle.loads(sent)
        if not good:
            raise result
        made: Result = result
        return made

    # -- Calls

    def call(self, method: str, /, **parameters: Any) -> Any:
        """Calls any control method (doc/control-methods.md) but those of sessions: call("misuse"). Raises ControlError."""
        return self._call(method, **parameters)

    def _call(self, method: str, /, **parameters: Any) -> Any:
        status, result = self._result(method, parameters)
        if status != library.OK and not (method in ("run", "wait") and result and "reason" in json.loads(result)):
            raise library.exception(status, result or b"")
        return json.loads(result or b"null")

    def _result(self, method: str, parameters: Mapping[str, Any]) -> tuple[int, bytes | None]:
        self._check_open()
        result = ctypes.c_char_p()
        # Integers of NumPy are numbers; NaN is none.
        words = json.dumps(parameters, default=operator.index, allow_nan=False).encode()
        status = self._library.trnvp_call(self._handle, method.encode(), words, ctypes.byref(result))
        self._reraise()
        return status, result.value

    def _wait(self, limits: dict[str, Any], wall_limit: float) -> Mapping[str, Any]:
        """In slices of wall time, between which Python handles signals. They do not change what the machine does."""
        limits = dict(limits)
        span = re.fullmatch(r"\s*(\d+)\s*([pnum]?s)\s*", limits.get("for", ""))
        if span is not None and "until" not in limits:  # the slices end at the same time
            limits["until"] = f"{self.time_ps + int(span[1]) * _UNITS[span[2]]} ps"
            del limits["for"]
        elif "for" in limits:
            return self._ended(self._call("wait", **limits, **wall_limits(wall_limit)))
        deadline = time.monotonic() + wall_limit
        while True:
            left = deadline - time.monotonic()
            stop = self._ended(self._call("wait", **limits, wall_limit=max(0.0, min(left, _SLICE_S))))
            if stop["reason"] != "wall_limit" or left <= _SLICE_S:
                return stop

    def _ended(self, stop: Mapping[str, Any]) -> Mapping[str, Any]:
        if stop["reason"] == "quit":
            raise Ended(stop["text"])
        return stop

    def _check(self, status: int) -> None:
        self._reraise()
        if status != library.OK:
            raise library.exception(status)

    def _check_open(self) -> None:
        if not self._end.alive:
            raise Ended("the machine is closed")

    def _guarded(self, callback: Callable[..., object], *arguments: object) -> object:
        """Calls a callback; what it raises is kept for _reraise(), and ends the call that runs."""
        try:
            return callback(*arguments)
        except BaseException as error:  # pylint: disable=broad-except
            self._raised = self._raised or error
            self._library.trnvp_call(self._handle, b"pause", None, None)
            return None

    def _reraise(self) -> None:
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised


class Function:
    """A PCIe function as its host sees it. Machine.function() makes one. Accesses let simulated time advance by their duration."""

    def __init__(self, machine: Machine, name: str, handle: ctypes.c_void_p):
        self._machine = machine
        self._library = library.load()
        self._handle = handle
        self.name = name  #: "chip0"

    def __repr__(self) -> str:
        return f"<trnvp.Function {self.name}>"

    def bar_size(self, bar: int) -> int:
        """Bytes of a BAR; 0 if there is none."""
        self._machine._check_open()
        return int(self._library.trnvp_bar_size(self._handle, _number(bar, "bar", 32)))

    def read(self, bar: int, offset: int, size: int) -> bytes:
        """One access to a BAR, of any size and alignment."""
        self._machine._check_open()
        if not 0 <= size <= 1 << 30:
            raise InvalidArgument(f"size: {size} is not between 0 and 1 GiB")
        data = ctypes.create_string_buffer(size)
        self._check(self._library.trnvp_bar_read(self._handle, *_place(bar, offset), data, size))
        return data.raw

    def write(self, bar: int, offset: int, data: bytes) -> None:
        """One access to a BAR, of any size and alignment."""
        self._machine._check_open()
        self._check(self._library.trnvp_bar_write(self._handle, *_place(bar, offset), data, len(data)))

    def read32(self, bar: int, offset: int) -> int:
        """Reads a register."""
        return int.from_bytes(self.read(bar, offset, 4), "little")

    def write32(self, bar: int, offset: int, value: int) -> None:
        """Writes a register."""
        self.write(bar, offset, _number(value, "value", 32).to_bytes(4, "little"))

    def config_read(self, offset: int, width: int = 4) -> int:
        """Configuration space: `width` 1, 2 or 4 aligned bytes."""
        self._machine._check_open()
        value = ctypes.c_uint32()
        self._check(self._library.trnvp_config_read(self._handle, *_place(offset, width), ctypes.byref(value)))
        return value.value

    def config_write(self, offset: int, value: int, width: int = 4) -> None:
        """Configuration space: `width` 1, 2 or 4 aligned bytes."""
        self._machine._check_open()
        self._check(self._library.trnvp_config_write(self._handle, *_place(offset, width), _number(value, "value", 32)))

    def alloc(self, size: int) -> HostMemory:
        """Zeroed memory of the host that the function can access."""
        self._machine._check_open()
        pointer, iova = ctypes.c_void_p(), ctypes.c_uint64()
        self._check(self._library.trnvp_host_alloc(self._handle, _number(size, "size"), ctypes.byref(pointer), ctypes.byref(iova)))
        return HostMemory(_view(pointer, size), iova.value)

    def free(self, memory: HostMemory) -> None:
        """Frees memory of alloc(), which must not be used afterwards."""
        self._machine._check_open()
        self._check(self._library.trnvp_host_free(self._handle, memory.iova, len(memory.data)))

    def on_interrupt(self, vector: int, callback: Callable[[int], object] | None) -> None:
        """Calls callback(vector) for each message of an MSI-X vector; None: the vector is off."""

        def raised(_: object, number: int) -> None:
            if callback is not None:
                self._machine._guarded(callback, number)

        self._machine._check_open()
        made = library.ON_MESSAGE(raised) if callback is not None else ctypes.cast(0, library.ON_MESSAGE)
        self._check(self._library.trnvp_on_interrupt(self._handle, _number(vector, "vector", 32), made, None))
        self._machine._callbacks[self.name, vector] = made

    def reset(self) -> None:
        """Function-level reset; memory and callbacks stay."""
        self._machine._check_open()
        self._check(self._library.trnvp_function_reset(self._handle))

    def _check(self, status: int) -> None:
        self._machine._check(status)


_log_callback: object = None


def on_log(callback: Callable[[str, str], object] | None) -> None:
    """Calls callback(severity, line) for lines of the log of this process, also before a Machine is made; None: standard error.
    What it raises is dropped."""

    def received(_: object, severity: bytes, line: bytes) -> None:
        if callback is not None:
            callback(severity.decode(), line.decode(errors="replace"))

    global _log_callback
    made = library.ON_LINE(received) if callback is not None else ctypes.cast(0, library.ON_LINE)
    status = library.load().trnvp_on_log(made, None)
    if status != library.OK:
        raise library.exception(status)
    _log_callback = made


def _destroy(loaded: ctypes.CDLL, handle: ctypes.c_void_p, owner: int) -> None:
    if os.getpid() == owner:
        loaded.trnvp_destroy(handle)


def _number(value: int, name: str, bits: int = 64) -> int:
    """ctypes cuts numbers to their type."""
    if not 0 <= value < 1 << bits:
        raise InvalidArgument(f"{name}: {value} is not a number of {bits} bits")
    return value


def _place(bar: int, offset: int) -> tuple[int, int]:
    return _number(bar, "bar", 32), _number(offset, "offset")


def _view(pointer: ctypes.c_void_p, size: int) -> memoryview:
    return memoryview((ctypes.c_ubyte * size).from_address(pointer.value or 0)).cast("B")


def _work_in_copy(writer: int, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    """Never returns."""
    status = 1
    try:
        try:
            made: tuple[bool, object] = (True, work(*arguments))
        except BaseException as error:  # pylint: disable=broad-except
            made = (False, error)
        try:
            sent = pickle.dumps(made)
            pickle.loads(sent)  # some exceptions cannot be made again
        except Exception as error:  # pylint: disable=broad-except
            sent = pickle.dumps((False, Error(f"what the copy made cannot be sent: {error}")))
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(sent)
        sys.stdout.flush()
        sys.stderr.flush()
        status = 0
    finally:
        os._exit(status)


def _read_all(reader: int, seconds: float) -> bytes:
    limit = time.monotonic() + seconds
    parts: list[bytes] = []
    while select.select([reader], [], [], max(0.0, limit - time.monotonic()))[0]:
        part = os.read(reader, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
    raise LimitReached(f"the copy took longer than {seconds:g} s and was ended")
