# SPDX-License-Identifier: Apache-2.0
"""Order between engines: overlapping accesses become waits for semaphores (doc/spec/neuron-core.md, 15.3 item 6).

An engine's instructions take effect in order, so a wait for one is a wait for all before it. A copy's end implies
that all earlier instructions of the engine that started it have ended, because DMA_START waits for them. Accesses that
a waiter thereby knows to have ended need no further wait.

At a fence all engines synchronise and semaphores return to 0, so each pass of a loop counts from 0 like the first.
"""
from __future__ import annotations

import dataclasses
from typing import Hashable, Iterable

from trn_nki.compile.program import ENGINES, LIST_ENTRIES, Access, Array, Copy, Fence, Instruction, Program, Tile
from trn_nki.values.generations import PSUM_BANK_BYTES

FIRST_COPY_SEMAPHORE, COPY_SEMAPHORES = 64, 160
ARRIVED, RELEASED = 32, 40  # first semaphores of fences; each engine has its own, by its number
GRAIN, CELLS = 10, 8  # accesses are indexed by cells of at least 2^10 bytes, 2^8 per array


class _Clock:
    """Known ended work: a number of instructions per engine, and a set of copies (bits)."""

    __slots__ = ("instructions", "copies")

    def __init__(self, instructions: dict[str, int], copies: int):
        self.instructions, self.copies = instructions, copies

    def copy(self) -> "_Clock":
        return _Clock(dict(self.instructions), self.copies)

    def join(self, other: "_Clock") -> None:
        for engine, count in other.instructions.items():
            if count > self.instructions.get(engine, 0):
                self.instructions[engine] = count
        self.copies |= other.copies


class _Point:
    """An instruction in the order of its engine."""

    __slots__ = ("instruction", "key", "number", "clock", "copy")  # copy: its bit in clocks, None of other instructions

    def __init__(self, instruction: Instruction, key: str, number: int, clock: _Clock, copy: int | None):
        self.instruction, self.key, self.number, self.clock, self.copy = instruction, key, number, clock, copy

    def is_known(self, clock: _Clock) -> bool:
        if self.copy is not None:
            return bool(clock.copies >> self.copy & 1)
        return clock.instructions.get(self.key, 0) >= self.number


class _History:
    """Accesses that later ones may overlap, by memory and place."""

    def __init__(self) -> None:
        self._cells: dict[Hashable, list[tuple[Access, bool, _Point]]] = {}

    @staticmethod
    def _keys(access: Access) -> Iterable[Hashable]:
        assert isinstance(access.memory, tuple)  # accesses() adds the core
        memory = access.memory[1]
        grain = max(GRAIN, memory.size.bit_length() - CELLS) if isinstance(memory, Array) else GRAIN
        return ((access.memory, cell) for cell in range(access.low >> grain, (access.high - 1 >> grain) + 1))

    def before(self, access: Access, writes: bool) -> set[_Point]:
        found = set()
        for key in self._keys(access):
            for earlier, wrote, point in self._cells.get(key, ()):
                if (writes or wrote) and point not in found and access.overlaps(earlier):
                    found.add(point)
        return found

    def add(self, access: Access, writes: bool, point: _Point) -> None:
        for key in self._keys(access):
            cell = self._cells.setdefault(key, [])
            # Earlier accesses that a write covers are implied by a wait for the write.
            kept = [
                (earlier, wrote, other)
                for earlier, wrote, other in cell
                if not ((writes or (not wrote and other.key == point.key and other.copy is point.copy is None)) and access.covers(earlier))
            ]
            kept.append((access, writes, point))
            self._cells[key] = kept


def accesses(instruction: Instruction) -> Iterable[tuple[Access, bool]]:
    """Accesses to its core and HBM: reads (False) and writes (True). Order between cores comes from explicit semaphores
    only."""
    found: list[tuple[Access, bool]] = []
    for part in instruction.parts if isinstance(instruction, Copy) else ():
        source, destination = part.accesses()
        found += [(source, False), (destination, True)]
    for operands, writes in ((instruction.reads, False), (instruction.writes, True)):
        for operand in operands:
            found.append(((operand.access() if isinstance(operand, Tile) else operand), writes))
            if isinstance(operand, Tile) and operand.index is not None:
                found.append((operand.index.access(), False))
    yield from _banks(instruction)
    for access, writes in found:
        if isinstance(access.memory, Array):
            yield dataclasses.replace(access, memory=(instruction.core, access.memory)), writes
        elif access.memory[0] == instruction.core:
            yield access, writes


def _banks(instruction: Instruction) -> Iterable[tuple[Access, bool]]:
    """The write ports of the PSUM banks that the instruction writes. Tensor and another engine must not use one at the same
    time (10.1), other engines may: they read the port, Tensor writes it."""
    for tile in instruction.writes:
        if isinstance(tile, Tile) and tile.memory == "psum":
            access = tile.access()
            first, last = access.low // PSUM_BANK_BYTES, (access.high - 1) // PSUM_BANK_BYTES
            yield Access((instruction.core, "ports of PSUM"), access.first, access.end, first, last + 1), instruction.engine == "tensor"


class Scheduler:
    """Walks a program once, adds waits and updates to instructions, and replaces fences by instructions."""

    def __init__(self, program: Program):
        self.program = program

    def run(self) -> None:
        found: list[Instruction] = []
        regions = [_Region(core) for core in range(self.program.cores)]
        for item in self.program.instructions:
            if isinstance(item, Fence):
                found += regions[item.core].close(item)
                regions[item.core] = _Region(item.core)
            elif isinstance(item, Instruction):
                regions[item.core].visit(item)
                found.append(item)
        for region in regions:
            found += region.end()
        self.program.instructions = [*found]


class _Region:
    """Instructions of a core between two fences. Earlier ones have ended; semaphores start at 0."""

    def __init__(self, core: int):
        self.core = core
        self.history = _History()
        self.known: dict[str, _Clock] = {}
        self.numbers: dict[str, int] = {}
        self.edges: list[tuple[Instruction, list[_Point]]] = []
        self.copies: list[_Point] = []
        self._instructions: list[Instruction] = []
        self._slots: dict[int, _Point] = {}  # the last copy that each semaphore counts
        self._counted: dict[int, int] = {}  # the semaphore's value at that copy

    def visit(self, instruction: Instruction, extra: Iterable[_Point] = ()) -> None:
        key = instruction.engine
        clock = self.known.setdefault(key, _Clock({}, 0))
        mine = list(accesses(instruction))
        before: set[_Point] = set(extra)
        for access, writes in mine:
            before |= self.history.before(access, writes)
        slot = self._slot(clock) if isinstance(instruction, Copy) else None
        if slot is not None and slot in self._slots:
            before.add(self._slots[slot])
        waited = self._reduce(key, clock, before)
        number = self.numbers[key] = self.numbers.get(key, 0) + 1
        end = clock.copy()
        end.instructions[key] = number
        point = _Point(instruction, key, number, end, None if slot is None else len(self.copies))
        if isinstance(instruction, Copy) and slot is not None:
            end.copies |= 1 << len(self.copies)
            self.copies.append(point)
            self._slots[slot] = point
            instruction.semaphore = FIRST_COPY_SEMAPHORE + slot
            instruction.posts = self._counted[slot] = self._counted.get(slot, 0) + instruction.increments
        for access, writes in mine:
            self.history.add(access, writes, point)
        self._instructions.append(instruction)
        if waited:
            self.edges.append((instruction, waited))

    def _slot(self, clock: _Clock) -> int:
        """A semaphore whose last copy is known to have ended, or the least recently used one."""
        for number in range(COPY_SEMAPHORES):
            if number not in self._slots or self._slots[number].is_known(clock):
                return number
        return min(self._slots, key=lambda number: self._slots[number].copy or 0)

    def _reduce(self, key: str, clock: _Clock, before: set[_Point]) -> list[_Point]:
        """The points for which the engine must wait: those that neither its clock nor another point implies."""
        waited = []
        # Latest points first: they may imply the others.
        by_knowledge = sorted(
            before, key=lambda p: (sum(p.clock.instructions.values()), p.clock.copies.bit_count(), p.number, p.key), reverse=True
        )
        for point in by_knowledge:
            if point.is_known(clock) or (point.key == key and point.copy is None):
                continue
            waited.append(point)
            clock.join(point.clock)
        return waited

    def end(self) -> list[Instruction]:
        """Makes Sync wait for all copies before its end."""
        last = []
        if self.copies:
            last.append(Instruction("sync", "nop", (), core=self.core))
            self.visit(last[0], self.copies)
        self._number()
        return last

    def close(self, fence: Fence) -> list[Instruction]:
        """Emits a fence: engines signal Sync, which waits for copies, clears the semaphores and releases all engines."""
        others = [engine for engine in fence.engines if engine != "sync"]
        master = Instruction("sync", "drain", (), place=fence.place, core=self.core)
        self.visit(master, self.copies)
        self._number()
        found = [master]

        def add(engine: str, *fields: str) -> None:
            found.append(Instruction(engine, "event_semaphore", fields, place=fence.place, core=self.core))

        for engine in others:
            arrived = Instruction(engine, "drain", (), place=fence.place, core=self.core)
            arrived.update = (self.core, ARRIVED + ENGINES.index(engine))
            found.append(arrived)
            add(engine, f"wait S[{RELEASED + ENGINES.index(engine)}]>=1:subtract")
        if others:
            add("sync", *(f"wait S[{ARRIVED + ENGINES.index(engine)}]>=1:subtract" for engine in others))
        used = {instruction.update[1] for instruction in self._instructions if instruction.update is not None}
        used |= {FIRST_COPY_SEMAPHORE + slot for slot in self._counted}
        updates = [f"update S[{semaphore}]=0" for semaphore in sorted(used)]
        updates += [f"update S[{RELEASED + ENGINES.index(engine)}]+=1" for engine in others]
        for first in range(0, len(updates), LIST_ENTRIES):
            add("sync", *updates[first : first + LIST_ENTRIES])
        return found

    def _number(self) -> None:
        posts: set[Instruction] = {point.instruction for _, points in self.edges for point in points if point.copy is None}
        values: dict[Instruction, int] = {}
        counts: dict[str, int] = {}
        for instruction in self._instructions:
            if instruction in posts:
                values[instruction] = counts[instruction.engine] = counts.get(instruction.engine, 0) + 1
                instruction.update = (instruction.core, ENGINES.index(instruction.engine))
        for instruction, points in self.edges:
            waits: dict[tuple[int, int], int] = {}
            for point in points:
                poster = point.instruction
                if isinstance(poster, Copy) and point.copy is not None:
                    place, value = (poster.core, poster.semaphore), poster.posts
                else:
                    place, value = (poster.core, ENGINES.index(poster.engine)), values[poster]
                waits[place] = max(value, waits.get(place, 0))
            instruction.waits = [(core, semaphore, value) for (core, semaphore), value in waits.items()]
