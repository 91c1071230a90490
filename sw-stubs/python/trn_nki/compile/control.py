# SPDX-License-Identifier: Apache-2.0
"""Loops of the device and calls that change registers."""
from __future__ import annotations

import dataclasses
from typing import Iterator, TypeAlias

from trn_nki.compile.operands import Operands, alu
from trn_nki.compile.program import LoopStart, Register
from trn_nki.diagnostics.errors import KernelError
from trn_nki.diagnostics.places import Place
from trn_nki.tensors.indirection import DeviceInteger, RegisterOrInteger
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.instructions import Instruction, Item, Loop, WhileLoop
from trn_nki.values.operators import Operator

MAX_UNROLLED = 100_000  # passes of loops
_WORD = 1 << 32


@dataclasses.dataclass
class _End:
    """The body of a loop ends."""

    place: Place


Flat: TypeAlias = Instruction | Loop | WhileLoop | _End


class Control:
    """Appends a core's register operations and loops. Trainium1 cannot start a copy twice, so loops with known bounds
    are unrolled there, with the values of their registers."""

    def __init__(self, operands: Operands, generation: int):
        self.operands, self.steps, self.unrolls = operands, operands.steps, generation == 2
        self._passes = 0  # unrolled so far

    def flat(self, body: list[Item]) -> Iterator[Flat]:
        """Calls, loops followed by their bodies, and ends of loops; unrolled loops as their calls."""
        for item in body:
            passes = self._known_passes(item) if isinstance(item, Loop) else None
            if isinstance(item, Loop) and passes is not None:
                for value in passes:
                    self.steps.constants[item.register] = value
                    yield from self.flat(item.body)
                continue
            yield item
            if isinstance(item, (Loop, WhileLoop)):
                yield from self.flat(item.body)
                yield _End(item.place)

    def _known_passes(self, item: Loop) -> range | None:
        """The counter's values in an unrolled loop. Raises KernelError."""
        if not self.unrolls or self.steps.loop is not None:
            return None
        lower, upper = self.steps.integer(item.lower), self.steps.integer(item.upper)
        if not isinstance(lower, int) or not isinstance(upper, int):
            return None
        found = range(lower, upper, item.step)
        self._passes += len(found)
        if self._passes > MAX_UNROLLED:
            raise KernelError(f"loops of the device are unrolled for Trainium1, to at most {MAX_UNROLLED} passes", "13", item.place)
        return found

    def loop(self, item: Loop | WhileLoop | _End) -> None:
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

    def _kept(self, bound: RegisterOrInteger) -> Register | int:
        value = self.steps.integer(bound)
        return value if isinstance(value, int) else self.steps.step(Register(self.operands.place), "reg_move", value)

    def register_move(self, dst: DeviceInteger, src: RegisterOrInteger) -> None:
        self._set(dst, self.steps.integer(src), "reg_move")

    def register_alu(self, dst: DeviceInteger, op: Operator, a: RegisterOrInteger, b: RegisterOrInteger) -> None:
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

    def _set(self, dst: DeviceInteger, value: Register | int, name: str, *others: Register | int, operator: str = "") -> None:
        self.steps.constants.pop(dst, None)
        if self.unrolls and name == "reg_move" and isinstance(value, int) and self.steps.loop is None:
            self.steps.constants[dst] = value
        else:
            self.steps.step(self.steps.register(dst), name, value, *others, operator=operator)

    def register_load(self, dst: DeviceInteger, src: NkiTensor) -> None:
        self.steps.constants.pop(dst, None)
        self.steps.load(self.steps.register(dst), src)

    def register_store(self, dst: NkiTensor, src: RegisterOrInteger) -> None:
        value = self.steps.integer(src)
        register = value if isinstance(value, Register) else self.steps.step(Register(self.operands.place), "reg_move", value)
        fields, access = self.steps.element(dst)
        if not dst.is_on_chip:
            self.operands.array(dst.storage).note_write()
        self.operands.append("sync", "reg_store", [("ra", register.held("sync")), *fields], [], [access])
