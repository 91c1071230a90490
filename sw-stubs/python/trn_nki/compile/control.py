# SPDX-License-Identifier: Apache-2.0
"""Loops of the device and calls that change registers."""
from __future__ import annotations

import dataclasses
from typing import Any, Iterator

from trn_nki.compile.operands import Operands, alu
from trn_nki.compile.program import ELEMENT_WORDS, Instruction, Location, LoopStart, Register, Tile
from trn_nki.diagnostics.errors import KernelError
from trn_nki.trace.instructions import Loop, WhileLoop

MAX_UNROLLED = 100_000  # passes of loops
_WORD = 1 << 32


@dataclasses.dataclass
class _End:
    """The body of a loop ends."""

    place: Any


class Control:
    """Appends a core's register operations and loops. Trainium1 cannot start a copy twice, so loops with known bounds
    are unrolled there, with the values of their registers."""

    def __init__(self, operands: Operands, generation: int):
        self.operands, self.steps, self.unrolls = operands, operands.steps, generation == 2
        self._passes = 0  # unrolled so far

    def flat(self, body: list[Any]) -> Iterator[Any]:
        """Calls, loops followed by their bodies, and ends of loops; unrolled loops as their calls."""
        for item in body:
            passes = self._known_passes(item)
            if passes is not None:
                for value in passes:
                    self.steps.constants[item.register] = value
                    yield from self.flat(item.body)
                continue
            yield item
            if isinstance(item, (Loop, WhileLoop)):
                yield from self.flat(item.body)
                yield _End(item.place)

    def _known_passes(self, item: Any) -> range | None:
        """The counter's values in an unrolled loop. Raises KernelError."""
        if not self.unrolls or not isinstance(item, Loop) or self.steps.loop is not None:
            return None
        bounds = [self.steps.integer(bound) for bound in (item.lower, item.upper)]
        if not all(isinstance(bound, int) for bound in bounds):
            return None
        found = range(*bounds, item.step)
        self._passes += len(found)
        if self._passes > MAX_UNROLLED:
            raise KernelError(f"loops of the device are unrolled for Trainium1, to at most {MAX_UNROLLED} passes", "13", item.place)
        return found

    def loop(self, item: Any) -> None:
        """A loop or its end."""
        if isinstance(item, _End):
            self.steps.close_loop()
            return
        self.steps.forget_constants()
        start = LoopStart(self.operands.core, item.place, self.steps.loop)
        if isinstance(item, WhileLoop):
            start.condition = self.steps.register(item.register)
        else:
            # The body may change the registers of the bounds; the loop uses their values at its
            # begin.
            start.lower, start.upper = (self._kept(bound) for bound in (item.lower, item.upper))
            start.counter, start.step = self.steps.register(item.register), item.step
        self.steps.open_loop(item, start)

    def _kept(self, bound: Any) -> Any:
        value = self.steps.integer(bound)
        return value if isinstance(value, int) else self.steps.step(Register(self.operands.place), "reg_move", value)

    def register_move(self, dst: Any, src: Any) -> None:
        self._set(dst, self.steps.integer(src), "reg_move")

    def register_alu(self, dst: Any, op: Any, a: Any, b: Any) -> None:
        left, right = self.steps.integer(a), self.steps.integer(b)
        word = alu(op, self.operands.place)
        if isinstance(left, int) and isinstance(right, int):
            value = {"add": left + right, "subtract": left - right, "mult": left * right}[word]
            self._set(dst, (value + _WORD // 2) % _WORD - _WORD // 2, "reg_move")
        elif isinstance(left, int) and word == "subtract":
            negative = self.steps.step(Register(self.operands.place), "reg_alu", right, -1, operator="mult")
            self._set(dst, negative, "reg_alu", left, operator="add")
        elif isinstance(left, int):
            self._set(dst, right, "reg_alu", left, operator=word)
        else:
            self._set(dst, left, "reg_alu", right, operator=word)

    def _set(self, dst: Any, value: Any, name: str, *others: Any, **more: Any) -> None:
        self.steps.constants.pop(dst, None)
        if self.unrolls and name == "reg_move" and isinstance(value, int) and self.steps.loop is None:
            self.steps.constants[dst] = value
        else:
            self.steps.step(self.steps.register(dst), name, value, *others, **more)

    def register_load(self, dst: Any, src: Any) -> None:
        self.steps.constants.pop(dst, None)
        self.steps.load(self.steps.register(dst), src)

    def register_store(self, dst: Any, src: Any) -> None:
        held = self.steps.register(src).held("sync")
        to, of = self.operands.access(dst), self.operands.object(dst.storage)
        field = ("where", Location(to)) if isinstance(to, Tile) else ("address", f"@{of.name}+{dst.offset * dst.dtype.itemsize}")
        if getattr(of, "role", "") == "in":
            of.role = "inout"
        fields = [("ra", held), ("type", ELEMENT_WORDS[dst.dtype.name]), field]
        self.operands.program.instructions.append(
            Instruction("sync", "reg_store", fields, [], [to], self.operands.place, self.operands.core)
        )


__all__ = ["Control"]
