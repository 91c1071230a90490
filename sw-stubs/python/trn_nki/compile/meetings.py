# SPDX-License-Identifier: Apache-2.0
"""Synchronisation of the two cores of a logical core: sendrecv and core_barrier (doc/spec/neuron-core.md, 6)."""
from __future__ import annotations

from typing import Sequence

from trn_nki.compile.copies import Pattern
from trn_nki.compile.operands import Operands
from trn_nki.compile.program import Access, Copy, Operand, Program
from trn_nki.compile.transfers import Mover, Pair, whole
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.instructions import Instruction
from trn_nki.trace.meetings import meeting_of

READY, DONE, BARRIER = 48, 49, 50  # semaphores of each core


class Meetings:
    """Appends the instructions of both cores for a sendrecv or core_barrier."""

    def __init__(self, program: Program, operands: Operands, moves: Mover):
        self.program, self.operands, self.moves = program, operands, moves
        self._exchanges = 0

    def meet(self, reached: list[Instruction | None]) -> None:
        """`reached`: the instruction that each core has reached, None for a core that has ended. Raises KernelError."""
        items = meeting_of(reached)
        if items[0].operation == "core_barrier":
            for core, item in enumerate(items):
                self._barrier(core, item)
        else:
            self._exchange(items)

    def _enter(self, core: int, item: Instruction) -> None:
        self.operands.core, self.operands.place = core, item.place

    def _post(self, engine: str, semaphore: int, accesses: Sequence[Operand]) -> None:
        """Adds 1 to the other core's semaphore once all operations that overlap the accesses have ended."""
        other = 1 - self.operands.core
        self.operands.append(engine, "write", [f"@core{other}.S[{semaphore}].4=1"], writes=accesses)

    def _wait(self, engine: str, semaphore: int, accesses: Sequence[Operand]) -> None:
        """Later operations that overlap the accesses wait for the other core's post."""
        self.operands.append(engine, "event_semaphore", [f"wait S[{semaphore}]>=1:subtract"], writes=accesses)

    def _barrier(self, core: int, item: Instruction) -> None:
        self._enter(core, item)
        touched = [self.operands.access(item.arguments["data"])]
        self._post(item.engine.name, BARRIER, touched)
        self._wait(item.engine.name, BARRIER, touched)

    def _source(self, src: NkiTensor, dst: NkiTensor) -> Pattern:
        """The elements to send: a copy of them where the other core's elements may overwrite them."""
        if src.storage is not dst.storage and not (src.storage.address and dst.storage.address):
            return self.operands.pattern(src)
        kept = self.operands.temporary(src, src.dtype)
        self.moves.append_copy(kept, self.operands.tile(src))
        return whole(kept)

    def _exchange(self, items: list[Instruction]) -> None:
        """Each core copies its source to the other core's destination once that is free, and signals the end."""
        self._exchanges += 1
        sources: list[Pattern] = []
        for core, item in enumerate(items):
            if {item.arguments["send_to_rank"], item.arguments["recv_from_rank"]} != {1 - core}:
                raise KernelError("sendrecv is compiled between the two cores only", "6", item.place)
            self._enter(core, item)
            sources.append(self._source(item.arguments["src"], item.arguments["dst"]))
            self._post("sync", READY, [self.operands.access(item.arguments["dst"])])
        for core, item in enumerate(items):
            destination = items[1 - core].arguments["dst"]
            if destination.dtype.itemsize != item.arguments["src"].dtype.itemsize:
                raise KernelError("sendrecv does not convert types", "6", item.place)
            self._enter(1 - core, items[1 - core])
            target = self.operands.pattern(destination)
            self._enter(core, item)
            sent = Access((core, f"exchange {self._exchanges}"), 0, 1, 0, 1)
            self._wait("sync", READY, [sent])
            begin = len(self.program.instructions)
            self.moves.copy(Pair(sources[core], target), destination.dtype.itemsize)
            for copy in self.program.instructions[begin:]:
                if isinstance(copy, Copy):
                    copy.writes.append(sent)
            self._post("sync", DONE, [sent])
        for core, item in enumerate(items):
            self._enter(core, item)
            self._wait("sync", DONE, [self.operands.access(item.arguments["dst"])])
