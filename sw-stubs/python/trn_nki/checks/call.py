# SPDX-License-Identifier: Apache-2.0
"""The instruction to check."""
from __future__ import annotations

from typing import Any, Protocol

from trn_nki.diagnostics.places import Place
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values import engines
from trn_nki.values.generations import Generation


class Recorded(Protocol):
    """What checks read of trace.instructions.Instruction."""

    operation: str
    engine: engines.engine
    arguments: dict[str, Any]
    place: Place

    @property
    def reads(self) -> tuple[NkiTensor, ...]:
        """Sources, and the index tiles of all views."""

    @property
    def writes(self) -> tuple[NkiTensor, ...]:
        """Destinations."""


class Call:
    """The instruction and the target generation. `arguments` are the kernel's, of any type until a rule has checked them."""

    __slots__ = ("operation", "engine", "arguments", "generation")

    def __init__(self, instruction: Recorded, generation: Generation):
        self.operation, self.engine = instruction.operation, instruction.engine
        self.arguments, self.generation = instruction.arguments, generation
