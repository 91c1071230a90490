# SPDX-License-Identifier: Apache-2.0
"""Loops of the device and registers of a recorded kernel as parts of a program."""
from __future__ import annotations

from typing import Any, Protocol

from trn_nki.compile.program import (
    ELEMENT_WORDS,
    Access,
    Array,
    Field,
    Held,
    Location,
    LoopEnd,
    LoopStart,
    Operand,
    Program,
    Register,
    Step,
    Tile,
)
from trn_nki.diagnostics.errors import KernelError
from trn_nki.diagnostics.places import Place
from trn_nki.tensors.indirection import DeviceInteger, RegisterOrInteger
from trn_nki.tensors.storage import Storage
from trn_nki.tensors.tensor import DynamicIndex, NkiTensor, indirection_of
from trn_nki.trace.instructions import Loop, WhileLoop

FAR = 1 << 30  # elements, or units of an index: outside of every tile and tensor


class Owner(Protocol):
    """What registers use of operands.Operands."""

    program: Program
    core: int
    place: Place | None

    def array(self, storage: Storage) -> Array:
        """Of a storage in HBM."""

    def access(self, view: NkiTensor) -> Tile | Access:
        """A tile, or a whole tensor in HBM."""


class RegisterSteps:
    """Appends the steps of registers, and the begins and ends of loops. `operands` says which core and which line they
    belong to."""

    def __init__(self, operands: Owner):
        self._owner = operands
        self._loops: dict[int, LoopStart] = {}  # the innermost open loop of each core
        self._started: dict[object, LoopStart] = {}  # by loop of the trace
        self._registers: dict[DeviceInteger, Register] = {}  # by register of the trace
        self.constants: dict[DeviceInteger, int] = {}  # registers of the trace whose values are known here

    @property
    def loop(self) -> LoopStart | None:
        """The innermost open loop of this core."""
        return self._loops.get(self._owner.core)

    def loop_of(self, storage: Storage) -> LoopStart | None:
        """The loop whose body allocated the storage."""
        return self._started.get(storage.loop)

    def open_loop(self, loop: Loop | WhileLoop, start: LoopStart) -> None:
        self._started[loop] = self._loops[self._owner.core] = start
        self._owner.program.instructions.append(start)

    def close_loop(self) -> None:
        start = self._loops[self._owner.core]
        self._owner.program.instructions.append(LoopEnd(start.core, start))
        if start.parent is None:
            del self._loops[self._owner.core]
        else:
            self._loops[self._owner.core] = start.parent

    def register(self, value: DeviceInteger) -> Register:
        """The program's register of a register of the trace."""
        if value in self.constants:
            return self.step(Register(self._owner.place), "reg_move", self.constants[value])
        found = self._registers.get(value)
        if found is None:
            found = self._registers[value] = Register(self._owner.place, value.factor, value.bounds)
        return found

    def integer(self, value: RegisterOrInteger) -> Register | int:
        """A register, or the integer if it is known."""
        if isinstance(value, DeviceInteger):
            return self.constants[value] if value in self.constants else self.register(value)
        return int(value)

    def forget_constants(self) -> None:
        """Moves constants into registers before a loop of the device, which may change them."""
        for register, value in list(self.constants.items()):
            del self.constants[register]
            self.step(self.register(register), "reg_move", value)

    def resolved(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Replaces views with a known index by views without an index."""
        if not self.constants:
            return arguments
        return {key: self._resolved(value) for key, value in arguments.items()}

    def _resolved(self, value: Any) -> Any:
        """Of an argument, which may be of any type."""
        if isinstance(value, (list, tuple)):
            return type(value)(self._resolved(part) for part in value)
        index = value.indirection if isinstance(value, NkiTensor) else None
        if index is None or index.kind != "scalar" or isinstance(index.index, NkiTensor):
            return value
        known = self.constants.get(index.index)
        if known is None:
            return value
        highest = value.max_index()
        if not 0 <= known <= highest:
            raise KernelError(f"index {known} of {value!r} is out of range; it must be below {highest + 1}", "10.1", self._owner.place)
        return value.static_view(known * index.stride)

    def step(
        self,
        target: Register,
        name: str,
        *sources: Register | int,
        operator: str = "",
        fields: tuple[Field, ...] = (),
        reads: tuple[Operand, ...] = (),
    ) -> Register:
        step = Step(target, name, sources, self._owner.place, self._owner.core, operator, fields, reads)
        self._owner.program.instructions.append(step)
        return target

    def index(self, value: DynamicIndex) -> Register:
        """The register of a scalar index; an element of a tile or tensor is loaded into one."""
        if isinstance(value, DeviceInteger):
            return self.register(value)
        return self.load(Register(self._owner.place), value)

    def load(self, target: Register, view: NkiTensor) -> Register:
        fields, source = self.element(view)
        return self.step(target, "reg_load", fields=fields, reads=(source,))

    def element(self, view: NkiTensor) -> tuple[tuple[Field, ...], Operand]:
        """Type and place of a view of one element, and its access."""
        access, kind = self._owner.access(view), ("type", ELEMENT_WORDS[view.dtype.name])
        if isinstance(access, Tile):
            return (kind, ("where", Location(access))), access
        array = self._owner.array(view.storage)
        return (kind, ("address", f"@{array.name}+{view.offset * view.dtype.itemsize}")), access

    def displacement(self, view: NkiTensor, engine: str) -> Held:
        """The register of the engine that holds the elements to add to the offset of a view with a scalar index. An index
        that is out of range gives an offset outside of every partition, which fails the instruction."""
        indirection = indirection_of(view)
        index, stride = self.index(indirection.index), indirection.stride
        found = index if stride == 1 else self._alu(index, stride, "mult")
        return self._far_if_outside(view, index, found).held(engine)

    def index_or_far(self, view: NkiTensor) -> Register:
        """The register of a view's scalar index, far out of range if it is out of range: all pieces of the copy are."""
        index = self.index(indirection_of(view).index)
        return self._far_if_outside(view, index, index)

    def _far_if_outside(self, view: NkiTensor, index: Register, value: Register) -> Register:
        highest = view.max_index()
        if index.bounds is not None and 0 <= index.bounds[0] and index.bounds[1] <= highest:
            return value
        below, above = self._alu(index, 0, "is_lt"), self._alu(index, highest, "is_gt")
        far = self._alu(self._alu(below, above, "add"), FAR, "mult")
        return self._alu(value, far, "max")

    def _alu(self, a: Register, b: Register | int, operator: str) -> Register:
        return self.step(Register(self._owner.place), "reg_alu", a, b, operator=operator)
