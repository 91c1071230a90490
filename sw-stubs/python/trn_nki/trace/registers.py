# SPDX-License-Identifier: Apache-2.0
"""Registers of an engine: integers that are known only when the program runs."""
from __future__ import annotations

import math
import sys

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors import indirection
from trn_nki.tensors.indirection import DeviceInteger, RegisterOrInteger
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace import recording, while_statements
from trn_nki.values import operators
from trn_nki.values.objects import NKIObject


class VirtualRegister(DeviceInteger, NKIObject):
    """A 32-bit integer. Arithmetic with it records an instruction and gives a new register."""

    def __init__(self, state: object = None, frozen: bool = False, factor: int = 1, bounds: tuple[int, int] | None = None):
        core = recording.current("a register")
        self.number = core.registers
        self.frozen = frozen  # a loop's counter, which the kernel cannot change
        self.factor = factor  # divides every value
        self.bounds = bounds  # smallest and largest value, if known
        self.has_dependents = False  # whether another register's factor or bounds follow from this one's
        core.registers += 1

    def _alu(self, op: operators.Operator, a: RegisterOrInteger, b: RegisterOrInteger) -> "VirtualRegister":
        for value in (a, b):
            if not isinstance(value, (int, VirtualRegister)):
                raise KernelError(f"a register takes integers and registers, not {type(value).__name__}")
        made = VirtualRegister(factor=_factor(op, a, b), bounds=_bounds(op, a, b))
        for value in (a, b):
            if isinstance(value, VirtualRegister):
                value.has_dependents |= value.factor != 1 or value.bounds is not None
        recording.record("register_alu", {"dst": made, "op": op, "a": a, "b": b})
        return made

    def __add__(self, other: RegisterOrInteger) -> "VirtualRegister":
        return self._alu(operators.add, self, other)

    def __radd__(self, other: RegisterOrInteger) -> "VirtualRegister":
        return self._alu(operators.add, other, self)

    def __sub__(self, other: RegisterOrInteger) -> "VirtualRegister":
        return self._alu(operators.subtract, self, other)

    def __rsub__(self, other: RegisterOrInteger) -> "VirtualRegister":
        return self._alu(operators.subtract, other, self)

    def __mul__(self, other: RegisterOrInteger) -> "VirtualRegister":
        return self._alu(operators.multiply, self, other)

    def __rmul__(self, other: RegisterOrInteger) -> "VirtualRegister":
        return self._alu(operators.multiply, other, self)

    def __bool__(self) -> bool:
        """`while register:` becomes a loop of the device; its body is traced once."""
        return while_statements.test(self, sys._getframe(1))

    def __index__(self) -> int:
        raise KernelError("the value of a register is not known while the kernel is traced; use nl.fori_loop or nl.ds")

    def __repr__(self) -> str:
        return f"r{self.number}"


def _factor(op: operators.Operator, a: RegisterOrInteger, b: RegisterOrInteger) -> int:
    left, right = (value.factor if isinstance(value, DeviceInteger) else value for value in (a, b))
    return abs(left * right if op is operators.multiply else math.gcd(left, right)) or 1


def _bounds(op: operators.Operator, a: RegisterOrInteger, b: RegisterOrInteger) -> tuple[int, int] | None:
    left, right = (value.bounds if isinstance(value, DeviceInteger) else (value, value) for value in (a, b))
    if left is None or right is None:
        return None
    if op is operators.subtract:
        right = (-right[1], -right[0])
    if op is operators.multiply:
        corners = [x * y for x in left for y in right]
        found = min(corners), max(corners)
    else:
        found = left[0] + right[0], left[1] + right[1]
    return found if -(2**31) <= found[0] and found[1] < 2**31 else None  # registers wrap


def _loaded(tile: NkiTensor) -> VirtualRegister:
    made = VirtualRegister()
    recording.record("register_load", {"dst": made, "src": tile})
    return made


indirection.loads_registers(_loaded)
