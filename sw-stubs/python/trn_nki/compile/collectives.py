# SPDX-License-Identifier: Apache-2.0
"""Collectives that a kernel starts: a write to a CC-Core's doorbell; the end adds 1 to a semaphore
(doc/collectives.md, "Started by an engine"). The scheduler treats them as copies between two arrays."""
from __future__ import annotations

from typing import Any

from trn_nki.checks.collectives import ranks_of
from trn_nki.compile.program import Array, Copy, Program
from trn_nki.compile.operands import Operands
from trn_nki.diagnostics.errors import KernelError
from trn_nki.diagnostics.places import Place

SLOTS = 4  # of a CC-Core
DOORBELL = 0x2010  # of a CC-Core's mailbox, and the value that starts slot 0
FIRST_TRIGGER = 0x100
_OPERATORS = {"add": "sum", "minimum": "min", "maximum": "max"}


class Collective(Copy):
    """Sync starts it. `slot`: of the CC-Core; `operator`: "" of a gather."""

    def __init__(self, operation: str, source: Array, destination: Array, operator: str, ranks: int, slot: int, place: Place | None):
        super().__init__("sync", [], place)
        self.operation, self.operator, self.ranks, self.slot = operation, operator, ranks, slot
        self.source, self.destination = source, destination
        self.reads, self.writes = [source.access()], [destination.access()]

    @property
    def increments(self) -> int:
        return 1

    def trigger(self) -> str:
        return f"write @cc[0]+{DOORBELL:#x}.4={FIRST_TRIGGER << self.slot:#x}"

    def declaration(self) -> str:
        """Precondition: the scheduler has assigned the semaphore."""
        options = f" operator={self.operator}" if self.operator else ""
        return f"{self.operation} {self.source.name} -> {self.destination.name} S[{self.semaphore}]{options}"


def collectives_of(program: Program) -> list[Collective]:
    return [item for item in program.instructions if isinstance(item, Collective)]


def append_collective(program: Program, operands: Operands, operation: str, arguments: dict[str, Any]) -> None:
    """Raises KernelError."""
    place, earlier = operands.place, collectives_of(program)
    if program.cores > 1 or operands.steps.loop is not None:
        raise KernelError("collectives are compiled for one core, outside of loops of the device", "15.4", place)
    if len(earlier) == SLOTS:
        raise KernelError(f"a kernel can start {SLOTS} collectives", "15.4", place)
    ranks = ranks_of(arguments["replica_group"])
    if earlier and earlier[0].ranks != ranks:
        raise KernelError("all collectives of a kernel have the same ranks", "15.4", place)
    source, destination = (operands.array(arguments[name].storage) for name in ("src", "dst"))
    operator = _OPERATORS[arguments["op"].name] if "op" in arguments else ""
    program.instructions.append(Collective(operation, source, destination, operator, ranks, len(earlier), place))
