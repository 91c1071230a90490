# SPDX-License-Identifier: Apache-2.0
"""Items of a recorded list."""
from __future__ import annotations

import ast
import dataclasses
import types
from typing import Any, Iterator, TypeAlias

from trn_nki.diagnostics.errors import KernelError
from trn_nki.diagnostics.places import Place
from trn_nki.tensors.indirection import DeviceInteger
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values.operations import OPERATIONS, Operation
from trn_nki.values.engines import engine


class Instruction:
    """One call of nki.isa.

    `arguments` holds the call's parameters by AWS's names: tensors (NkiTensor), numbers, registers
    (VirtualRegister), operators (values.operators.Operator), modes (values.engines). Defaults are
    filled in. `engine` is resolved: never unknown; so is `accumulate` of a matmul: never None.
    """

    __slots__ = ("index", "operation", "engine", "arguments", "name", "place", "after", "_reads", "_writes")

    def __init__(self, index: int, operation: str, engine: engine, arguments: dict[str, Any], name: str | None, place: Place):
        self.index, self.operation, self.engine = index, operation, engine
        self.arguments, self.name, self.place = arguments, name, place
        self._reads: tuple[NkiTensor, ...] | None = None  # computed when asked for
        self._writes: tuple[NkiTensor, ...] | None = None
        self.after: tuple[Instruction, ...] = ()  # named by the kernel with depends_on

    @property
    def description(self) -> Operation:
        return OPERATIONS[self.operation]

    @property
    def writes(self) -> tuple[NkiTensor, ...]:
        if self._writes is None:
            self._writes = _tensors(self.arguments, self.description.writes)
        return self._writes

    @property
    def reads(self) -> tuple[NkiTensor, ...]:
        """Sources, tile operands, and the index tiles of all views."""
        if self._reads is None:
            found = _tensors(self.arguments, self.description.reads)
            if self.arguments.get("accumulate"):
                found += self.writes
            indices = [view.indirection.index for view in found + self.writes if view.indirection is not None]
            self._reads = found + tuple(index for index in indices if isinstance(index, NkiTensor))
        return self._reads

    def depends_on(self, *producers: "Instruction") -> "Instruction":
        for producer in producers:
            if not isinstance(producer, Instruction):
                raise KernelError(f"depends_on takes instructions, not {type(producer).__name__}")
        self.after += producers
        return self

    def __repr__(self) -> str:
        return f"{self.engine.name} {self.operation}({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"


@dataclasses.dataclass(eq=False, slots=True)
class Loop:
    """register runs from lower to below upper by step; bounds are integers or registers."""

    register: DeviceInteger
    lower: DeviceInteger | int
    upper: DeviceInteger | int
    step: int
    place: Place
    body: list[Item] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(eq=False, slots=True)
class WhileLoop:
    """The body runs while the register is not 0, tested before each pass."""

    register: DeviceInteger
    place: Place
    body: list[Item] = dataclasses.field(default_factory=list)
    # Of a `while` statement: itself, and what executes it until the loop is closed.
    statement: ast.While | None = dataclasses.field(default=None, repr=False)
    frame: types.FrameType | None = dataclasses.field(default=None, repr=False)


Item: TypeAlias = Instruction | Loop | WhileLoop


def instructions_of(body: list[Item]) -> Iterator[Instruction]:
    """The instructions of a list, those of its loops once."""
    for item in body:
        if isinstance(item, Instruction):
            yield item
        else:
            yield from instructions_of(item.body)


def _tensors(arguments: dict[str, Any], names: tuple[str, ...]) -> tuple[NkiTensor, ...]:
    found = []
    for name in names:
        value = arguments.get(name)
        if isinstance(value, NkiTensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [part for part in value if isinstance(part, NkiTensor)]
    return tuple(found)
