# SPDX-License-Identifier: Apache-2.0
"""Operands of a recorded kernel as operands of instructions."""
from __future__ import annotations

import dataclasses
import math
import re
import struct
from typing import Any

from trn_nki.compile.copies import PARTITION, Pattern
from trn_nki.compile.program import Access, Array, Buffer, Column, Exact, Instruction, Integer, Program, Tile
from trn_nki.compile.register_steps import FAR, RegisterSteps
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.indirection import DeviceInteger
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.tenancy import QUADRANT
from trn_nki.values import data_types

ALU = {
    0: "bypass",
    1: "add",
    2: "subtract",
    3: "mult",
    4: "max",
    5: "min",
    6: "is_equal",
    7: "not_equal",
    8: "is_ge",
    9: "is_gt",
    10: "is_le",
    11: "is_lt",
    12: "logical_and",
    13: "logical_or",
    14: "logical_xor",
    15: "pow",
    16: "abs_max",
    17: "abs_min",
    18: "abs",
    19: "square",
    20: "relu",
    21: "rsqrt",
    22: "reciprocal",
    23: "average",
    32: "bitwise_and",
    33: "bitwise_or",
    34: "bitwise_xor",
    35: "bitwise_not",
    36: "shift_left",
    37: "shift_right",
}
FUNCTIONS = (
    "copy",
    "square",
    "abs",
    "sign",
    "relu",
    "prelu",
    "sigmoid",
    "tanh",
    "exp",
    "gelu",
    "gelu_dx",
    "gelu_apprx_tanh",
    "gelu_apprx_sigmoid",
    "gelu_apprx_sigmoid_dx",
    "silu",
    "silu_dx",
    "softplus",
    "mish",
    "erf",
    "erf_dx",
    "log",
    "sin",
    "arctan",
    "sqrt",
    "rsqrt",
    "reciprocal",
)
MAX_NAME = 40
_TRANSFER = re.compile(r"move\d+_\d+")  # names of transfers (emission.py)


def alu(operator: Any, place: Any) -> str:
    if operator is None:
        return "bypass"
    if operator.code is None:
        raise KernelError(f"{operator!r} is no operator of an engine's arithmetic", "3.4", place)
    return ALU[operator.code]


def function(operator: Any, place: Any) -> str:
    if operator.activation is None:
        raise KernelError(f"{operator!r} is no activation function", "3.6", place)
    return FUNCTIONS[operator.activation]


def fp32(value: Any) -> str:
    """The number as an FP32 immediate: decimal if that has the same bits."""
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", float(value)))
    except OverflowError:
        bits = 0xFF800000 if float(value) < 0 else 0x7F800000
    (number,) = struct.unpack("<f", struct.pack("<I", bits))
    if not math.isfinite(number) or (number == 0 and bits):
        return f"{bits:#x}"
    return repr(number) if number != int(number) else repr(float(number))


class Operands:
    """Buffers of tiles and arrays of tensors, created on first use."""

    def __init__(self, program: Program):
        self.program = program
        self._made: dict[Any, Array | Buffer] = {}
        self._names: set[str] = set()
        self.core = 0
        self.place: Any = None
        self.steps = RegisterSteps(self)

    def name(self, wanted: str) -> str:
        base = re.sub(r"\W", "_", wanted)[:MAX_NAME] or "t"
        if not base[0].isalpha() or base in ("sbuf", "psum", "control", "program", "cc", "S") or base[:4] == "core":
            base = "t_" + base
        found, count = base, 1
        while found in self._names or _TRANSFER.fullmatch(found):
            count += 1
            found = f"{base}_{count}"
        self._names.add(found)
        return found

    def object(self, storage: Any) -> Array | Buffer:
        made = self._made.get(storage)
        if made is None:
            if storage.is_on_chip:
                first, offset = storage.address or (None, None)
                made = Buffer(
                    storage.region.value,
                    storage.partitions,
                    storage.bytes_per_partition,
                    storage.name,
                    storage.place,
                    first=first,
                    offset=offset,
                    core=self.core,
                    loop=self.steps.loop_of(storage),
                )
            else:
                role = {"input": "in", "constant": "in", "output": "out"}.get(storage.role, "scratch")
                made = Array(self.name(storage.name), storage.dtype, storage.shape, role, core=self.core, place=storage.place)
                self.program.arrays.append(made)
            self._made[storage] = made
        return made

    def arrays(self) -> list[tuple[Any, Array]]:
        return [(storage, made) for storage, made in self._made.items() if isinstance(made, Array)]

    def scratch(self, dtype: Any, shape: tuple[int, ...]) -> Array:
        made = Array(self.name("scratch"), dtype, shape, "scratch", core=self.core, place=self.place)
        self.program.arrays.append(made)
        return made

    def temporary(self, like: NkiTensor, dtype: Any, shape: tuple[int, ...] | None = None) -> Tile:
        """A new tile in SBUF with the elements of `like` in order."""
        return self.made(like.shape[0], math.prod((shape or like.shape)[1:]), dtype, "a copy of " + like.name)

    def made(self, partitions: int, count: int, dtype: Any, name: str) -> Tile:
        """A new tile in SBUF."""
        buffer = Buffer("sbuf", partitions, count * dtype.itemsize, name, self.place, core=self.core, loop=self.steps.loop)
        return Tile(buffer, dtype, partitions, ((count, 1),))

    @staticmethod
    def is_legal(view: NkiTensor) -> bool:
        """Whether engines can address the partitions of a tile (2.2)."""
        start, count = view.start_partition, view.shape[0]
        return start == 0 or (count <= 64 and start % (64 if count > 32 else 32) == 0)

    def pattern(self, view: NkiTensor) -> Pattern:
        """All dimensions, for a copy, without a scalar index."""
        if view.indirection is not None and view.indirection.kind != "scalar":
            self._static(view)
        size = view.dtype.itemsize
        of = self.object(view.storage)
        dims = [(count, stride * size) for count, stride in zip(view.shape, view.strides)]
        if not isinstance(of, Buffer):
            return Pattern(of, view.offset * size, tuple(reversed(dims)))
        dims[0] = (view.shape[0], PARTITION)
        return Pattern(of, view.partition * PARTITION + view.element * size, tuple(reversed(dims)))

    def tile(self, view: Any, what: str = "the operand", engine: str | None = None) -> Tile:
        """`engine` executes the instruction; without it the view has no index of the device."""
        if not isinstance(view, NkiTensor) or not view.is_on_chip:
            raise KernelError(f"{what} is {view!r}, not a tile in SBUF or PSUM", "8", self.place)
        index = register = None
        dims = tuple((count, stride) for count, stride in zip(reversed(view.shape[1:]), reversed(view.strides[1:])))
        if view.indirection is not None:
            kind = view.indirection.kind
            if kind == "scalar" and engine is not None:
                register = self.steps.displacement(view, engine)
            elif kind == "column":
                index = self._index(view)
                dims = ((view.shape[1], 1),)
            else:
                self._static(view)
        found = Tile(
            self.object(view.storage),
            view.dtype,
            view.shape[0],
            dims or ((1, 1),),
            view.partition,
            view.element * view.dtype.itemsize,
            register,
            index,
        )
        if len(found.merged()) > 4:
            raise KernelError(
                f"{what} has {len(found.merged())} dimensions that cannot be merged, at most 4 are " "possible", "2.3", self.place
            )
        return found

    def _index(self, view: NkiTensor) -> Tile:
        """A copy of a view's index tile in which indices that are not below the view's limit are FAR: the engine compares
        them with the end of the partition only (2.4)."""
        given = self.tile(view.indirection.index)
        start, count = given.start, given.partitions
        made = self.made(start + count, given.elements, given.dtype, "indices of " + view.name)
        wrong = self.made(start + count, given.elements, data_types.uint8, "indices out of range")
        for first in range(0, count, QUADRANT):
            rows = min(QUADRANT, count - first)
            mine, test = (dataclasses.replace(one, partition=start + first, partitions=rows) for one in (made, wrong))
            source = dataclasses.replace(given, partition=given.partition + first, partitions=rows)
            for name, fields, reads, written in (
                ("copy", [("dst", mine), ("a", source)], [source], mine),
                (
                    "tensor_scalar",
                    [("op0", "is_ge"), ("s0", f"fp32({fp32(view.indirection.limit)})"), ("dst", test), ("a", source)],
                    [source],
                    test,
                ),
                ("copy_predicated", [("s0", f"fp32({fp32(FAR)})"), ("dst", mine), ("b", test)], [test, mine], mine),
            ):
                self.program.instructions.append(Instruction("vector", name, fields, reads, [written], self.place, self.core))
        return dataclasses.replace(made, partition=start, partitions=count)

    def access(self, view: NkiTensor) -> Tile | Access:
        """The access of an instruction without operands: a tile, or a whole tensor in HBM."""
        if view.is_on_chip:
            return self.tile(view)
        of = self.object(view.storage)
        return Access(of, 0, 1, 0, of.size)

    def scalar(self, value: Any, bitvec: bool = False, engine: str | None = None) -> tuple[Any, list[Tile]]:
        """The field's text, and its accesses."""
        if isinstance(value, NkiTensor):
            if value.indirection is not None:
                raise KernelError(f"{value!r}: a scalar operand's place is known before the run", "7.4", self.place)
            tile = self.tile(value)
            return Column(tile), [tile]
        if isinstance(value, DeviceInteger):
            return Integer(self.steps.register(value).held(engine)), []
        if bitvec:
            return f"i32({int(value) if int(value) < 1 << 31 else int(value) - (1 << 32)})", []
        return f"fp32({fp32(value)})", []

    def _static(self, view: NkiTensor) -> None:
        if view.indirection is not None:
            raise KernelError(
                f"{view!r}: a {view.indirection.kind} index known only on the device is not compiled yet; " "nki.simulate runs it",
                "15.3",
                self.place,
            )


def grouped(dims: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Dimensions with contiguous ones merged."""
    return Tile(None, None, 1, dims).merged()


__all__ = ["ALU", "Exact", "FUNCTIONS", "Operands", "alu", "fp32", "function", "grouped"]
