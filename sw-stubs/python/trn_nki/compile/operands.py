# SPDX-License-Identifier: Apache-2.0
"""Operands of a recorded kernel as operands of instructions."""
from __future__ import annotations

import dataclasses
import math
import re
import struct
from typing import TYPE_CHECKING, Iterable

from trn_nki.compile.copies import PARTITION, Pattern
from trn_nki.compile.program import Access, Array, Base, Buffer, Column, Field, Instruction, Operand, Program, Tile
from trn_nki.compile.register_steps import FAR, RegisterSteps
from trn_nki.diagnostics.errors import KernelError
from trn_nki.diagnostics.places import Place
from trn_nki.tensors.storage import Storage
from trn_nki.tensors.tensor import NkiTensor, indirection_of
from trn_nki.trace.tenancy import QUADRANT
from trn_nki.values import data_types
from trn_nki.values.data_types import DataType
from trn_nki.values.operators import Operator

if TYPE_CHECKING:
    from trn_nki.tensors.argument_types import Number, Scalar

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


def alu(operator: Operator | None, place: Place | None) -> str:
    if operator is None:
        return "bypass"
    if operator.code is None:
        raise KernelError(f"{operator!r} is no operator of an engine's arithmetic", "3.4", place)
    return ALU[operator.code]


def function(operator: Operator, place: Place | None) -> str:
    if operator.activation is None:
        raise KernelError(f"{operator!r} is no activation function", "3.6", place)
    return FUNCTIONS[operator.activation]


def fp32(value: Number) -> str:
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
        self._made: dict[Storage, Base] = {}
        self._names: set[str] = set()
        self.core = 0
        self.place: Place | None = None
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

    def buffer(self, storage: Storage) -> Buffer:
        """Of a storage on chip."""
        made = self._made.get(storage)
        if made is None:
            made = self._made[storage] = Buffer(
                storage.region.value,
                storage.partitions,
                storage.bytes_per_partition,
                storage.name,
                storage.place,
                address=storage.address,
                core=self.core,
                loop=self.steps.loop_of(storage),
            )
        assert isinstance(made, Buffer)
        return made

    def array(self, storage: Storage) -> Array:
        """Of a storage in HBM."""
        made = self._made.get(storage)
        if made is None:
            role = {"input": "in", "constant": "in", "output": "out"}.get(storage.role, "scratch")
            made = self._made[storage] = self._new_array(storage.name, storage.dtype, storage.shape, role)
        assert isinstance(made, Array)
        return made

    def arrays(self) -> list[tuple[Storage, Array]]:
        return [(storage, made) for storage, made in self._made.items() if isinstance(made, Array)]

    def scratch(self, dtype: DataType, shape: tuple[int, ...]) -> Array:
        return self._new_array("scratch", dtype, shape, "scratch")

    def _new_array(self, name: str, dtype: DataType, shape: tuple[int, ...], role: str) -> Array:
        made = Array(self.name(name), dtype, shape, role, self.core)
        self.program.arrays.append(made)
        return made

    def temporary(self, like: NkiTensor, dtype: DataType) -> Tile:
        """A new tile in SBUF with the elements of `like` in order."""
        return self.made(like.shape[0], like.free_size, dtype, "a copy of " + like.name)

    def made(self, partitions: int, count: int, dtype: DataType, name: str, memory: str = "sbuf") -> Tile:
        """A new tile."""
        buffer = Buffer(memory, partitions, count * dtype.itemsize, name, self.place, core=self.core, loop=self.steps.loop)
        return Tile(buffer, dtype, partitions, ((count, 1),))

    def append(
        self, engine: str, name: str, fields: Iterable[Field], reads: Iterable[Operand] = (), writes: Iterable[Operand] = ()
    ) -> None:
        """Appends an instruction of this core to the program."""
        self.program.instructions.append(Instruction(engine, name, fields, reads, writes, self.place, self.core))

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
        dims = [(count, stride * size) for count, stride in zip(view.shape, view.strides)]
        if not view.is_on_chip:
            return Pattern(self.array(view.storage), view.offset * size, tuple(reversed(dims)))
        dims[0] = (view.shape[0], PARTITION)
        return Pattern(self.buffer(view.storage), view.partition * PARTITION + view.element * size, tuple(reversed(dims)))

    def tile(self, view: NkiTensor, role: str = "the operand", engine: str | None = None) -> Tile:
        """`engine` executes the instruction; without it the view has no index of the device."""
        if not isinstance(view, NkiTensor) or not view.is_on_chip:
            raise KernelError(f"{role} is {view!r}, not a tile in SBUF or PSUM", "8", self.place)
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
            self.buffer(view.storage),
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
                f"{role} has {len(found.merged())} dimensions that cannot be merged, at most 4 are possible", "2.3", self.place
            )
        return found

    def _index(self, view: NkiTensor) -> Tile:
        """A copy of a view's index tile in which indices that are not below the view's limit are FAR: the engine compares
        them with the end of the partition only (2.4)."""
        indirection = indirection_of(view)
        given = self.tile(indirection.tile)
        start, count = given.start, given.partitions
        made = self.made(start + count, given.elements, given.dtype, "indices of " + view.name)
        wrong = self.made(start + count, given.elements, data_types.uint8, "indices out of range")
        for first in range(0, count, QUADRANT):
            rows = min(QUADRANT, count - first)
            mine, test = (dataclasses.replace(tile, partition=start + first, partitions=rows) for tile in (made, wrong))
            source = dataclasses.replace(given, partition=given.partition + first, partitions=rows)
            limit = ("s0", f"fp32({fp32(indirection.limit)})")
            self.append("vector", "copy", [("dst", mine), ("a", source)], [source], [mine])
            self.append("vector", "tensor_scalar", [("op0", "is_ge"), limit, ("dst", test), ("a", source)], [source], [test])
            self.append("vector", "copy_predicated", [("s0", f"fp32({fp32(FAR)})"), ("dst", mine), ("b", test)], [test, mine], [mine])
        return dataclasses.replace(made, partition=start, partitions=count)

    def access(self, view: NkiTensor) -> Tile | Access:
        """The access of an instruction without operands: a tile, or a whole tensor in HBM."""
        if view.is_on_chip:
            return self.tile(view)
        return self.array(view.storage).access()

    def scalar(self, value: Scalar, bitvec: bool) -> tuple[str | Column, list[Tile]]:
        """The field's text, and its accesses."""
        if isinstance(value, NkiTensor):
            if value.indirection is not None:
                raise KernelError(f"{value!r}: a scalar operand's place is known before the run", "7.4", self.place)
            tile = self.tile(value)
            return Column(tile), [tile]
        if bitvec:
            return f"i32({int(value) if int(value) < 1 << 31 else int(value) - (1 << 32)})", []
        return f"fp32({fp32(value)})", []

    def _static(self, view: NkiTensor) -> None:
        if view.indirection is not None:
            raise KernelError(
                f"{view!r}: a {view.indirection.kind} index known only on the device is not compiled yet; nki.simulate runs it",
                "15.3",
                self.place,
            )
