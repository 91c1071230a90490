# SPDX-License-Identifier: Apache-2.0
"""What a board in a process of its own and a machine in this process have in common: methods over control methods."""
from __future__ import annotations

import abc
import math
import numbers
from typing import Any, Literal, Mapping, NamedTuple, overload

from trnvp.errors import LimitReached, Stalled


class Stop(NamedTuple):
    """Why simulated time stopped advancing, and when."""

    reason: str  #: "condition", "time_limit" or "paused"
    text: str  #: the reason in words
    time_ps: int  #: simulated time in ps


class Methods(abc.ABC):
    """Time, registers, memory and consoles, through the control methods (doc/control-methods.md)."""

    name: str  #: of the board

    @abc.abstractmethod
    def _call(self, method: str, /, **parameters: Any) -> Any:
        """Calls a control method. Raises ControlError if it refuses."""

    @abc.abstractmethod
    def _wait(self, limits: dict[str, Any], wall_limit: float) -> Mapping[str, Any]:
        """Lets time advance to the first of the limits of the control method `wait`; returns its result."""

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
        stop = self._wait(limits, wall_limit)
        if stop["reason"] == "stalled":
            raise Stalled(stop["text"])
        if stop["reason"] == "wall_limit":
            raise LimitReached(f"{wall_limit:g} s of wall time have passed; simulated time is {stop['time']}")
        return Stop(stop["reason"], stop["text"], int(stop["time_ps"]))

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

    # -- Parts

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
            self._call(method, space=name, address=address, data=bytes_of(value).hex())
        elif number:
            self._call(method, register=name, value=value, index=index, instance=instance)
        elif bytes_of(value) is not None:
            raise ValueError(f"{method}() of bytes needs an address in the space '{name}'")


def wall_limits(seconds: float) -> dict[str, float]:
    """The limit of the host's clock, as the control method `wait` has it."""
    return {} if seconds == math.inf else {"wall_limit": seconds}


def bytes_of(data: object) -> bytes:
    """Of bytes, a bytearray, a memoryview or an array. A number or a path has none."""
    try:
        return memoryview(data).tobytes()  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"not bytes, but {type(data).__name__}: {data!r:.40}") from None


def option_words(parameters: Mapping[str, object] | None, options: Mapping[str, object | None]) -> list[str]:
    """Words of `trnvp run` for parameters of the board, and for those of `options` that are not None."""
    words = []
    for key, value in (parameters or {}).items():
        words += ["--set", f"{key}={str(value).lower() if isinstance(value, bool) else value}"]
    for option, given in options.items():
        words += [option, str(given)] if given is not None else []
    return words
