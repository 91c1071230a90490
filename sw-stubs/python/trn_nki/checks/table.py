# SPDX-License-Identifier: Apache-2.0
"""Finds the rules of an operation."""
from __future__ import annotations

from typing import Any, Callable

from trn_nki.checks import collectives, data_movement, lanes, matrices
from trn_nki.diagnostics.errors import KernelError
from trn_nki.values.operations import OPERATIONS
from trn_nki.values.engines import engine
from trn_nki.values.generations import Generation
from trn_nki.values.memory_regions import psum

_RULES: dict[str, Callable[[Any], None]] = {**collectives.RULES, **data_movement.RULES, **lanes.RULES, **matrices.RULES}


class Call:
    """The instruction to check, and the target generation."""

    __slots__ = ("operation", "engine", "arguments", "generation")

    def __init__(self, instruction: Any, generation: Generation):
        self.operation, self.engine = instruction.operation, instruction.engine
        self.arguments, self.generation = instruction.arguments, generation


def check(instruction: Any, generation: Generation) -> None:
    """Raises KernelError when the target cannot execute the instruction as the specification says."""
    operation = OPERATIONS[instruction.operation]
    if operation.generation > generation.number:
        raise KernelError(f"nisa.{operation.name} exists from NeuronCore-v{operation.generation}; the target is "
                          f"v{generation.number}", "13")
    call = Call(instruction, generation)
    rule = _RULES.get(instruction.operation)
    if rule is not None:
        rule(call)
    if instruction.engine is engine.gpsimd:
        for view in instruction.reads + instruction.writes:
            if view.buffer is psum:
                raise KernelError(f"nisa.{operation.name}: GPSIMD cannot reach PSUM, where {view!r} is", "2.5")
    for view in instruction.reads + instruction.writes if generation.number < 4 else ():
        if view.indirection is not None and view.indirection.kind == "column":
            raise KernelError(f"views made by indirect() exist from NeuronCore-v4; the target is v{generation.number}",
                              "2.4")
