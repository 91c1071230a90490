# SPDX-License-Identifier: Apache-2.0
"""Loops of the device and registers as instructions of each engine (doc/decisions/0024-loops-are-closed-regions.md).

Engines share no registers. So each engine executes the steps that compute the registers it needs, and each engine with
work in a loop executes the loop.
"""
from __future__ import annotations

from typing import Iterator, Sequence

from trn_nki.compile.program import ENGINES, Fence, Field, Instruction, Item, LoopEnd, LoopStart, Program, Register, Step

MASTER = "sync"  # of a fence


def expand(program: Program) -> None:
    """Replaces Step, LoopStart and LoopEnd by instructions, and records where loops begin and end."""
    if not any(isinstance(item, (Step, LoopStart)) for item in program.instructions):
        return
    parties = {core: _Parties([item for item in program.instructions if item.core == core]) for core in range(program.cores)}
    found: list[Item] = []
    begins: dict[LoopStart, int] = {}
    for item in program.instructions:
        if isinstance(item, Step):
            found += (_step(item, engine) for engine in ENGINES if engine in item.target.holders)
        elif isinstance(item, LoopStart):
            begins[item] = len(found)
            found += _begin(item, parties[item.core])
        elif isinstance(item, LoopEnd):
            found += _end(item.start, parties[item.core])
            program.loops.append((item.start, begins[item.start], len(found) - 1))
        else:
            found.append(item)
    program.instructions = found


class _Parties:
    """The engines of one core that execute each loop and hold each register."""

    def __init__(self, items: list[Item]):
        self.engines: set[str] = {MASTER}  # with instructions
        self.of_loop: dict[LoopStart, set[str]] = {}
        self._loop_of: dict[Item, LoopStart | None] = {}
        self._steps = [item for item in items if isinstance(item, Step)]
        self._label = {loop: number for number, loop in enumerate(item for item in items if isinstance(item, LoopStart))}
        inside: LoopStart | None = None
        for item in items:
            self._loop_of[item] = inside
            if isinstance(item, LoopStart):
                self.of_loop[item] = {MASTER}
                inside = item
            elif isinstance(item, LoopEnd):
                inside = item.start.parent
            elif isinstance(item, Instruction):
                self._joins(item.engine, inside)
        while self._spread():
            pass

    def label(self, loop: LoopStart, engine: str, point: str) -> str:
        return f"loop{loop.core}_{self._label[loop]}_{engine}_{point}"

    def around(self, loop: LoopStart) -> tuple[str, ...]:
        """Engines that execute the loop's begin and end."""
        return _ordered(self.engines if loop.parent is None else self.of_loop[loop.parent])

    def inside(self, loop: LoopStart) -> tuple[str, ...]:
        return _ordered(self.of_loop[loop])

    def _joins(self, engine: str, loop: LoopStart | None) -> bool:
        """Adds the engine to the loop and to the loops around it. Returns whether it was new."""
        is_new = engine not in self.engines
        self.engines.add(engine)
        while loop is not None and engine not in self.of_loop[loop]:
            self.of_loop[loop].add(engine)
            is_new, loop = True, loop.parent
        return is_new

    def _spread(self) -> bool:
        """Adds to each engine the bounds of its loops, and all registers from which its registers are computed."""
        changed = False

        def needs(engine: str, value: Register | int | None) -> None:
            nonlocal changed
            if isinstance(value, Register) and engine not in value.holders:
                value.held(engine)
                changed = True

        for loop, engines in self.of_loop.items():
            for engine in sorted(engines):
                for value in (loop.counter, loop.lower, loop.upper, loop.condition):
                    needs(engine, value)
        for step in self._steps:
            for engine in step.target.holders:
                changed |= self._joins(engine, self._loop_of[step])
                for value in step.sources:
                    needs(engine, value)
        return changed


def _ordered(engines: set[str]) -> tuple[str, ...]:
    return tuple(engine for engine in ENGINES if engine in engines)


def _control(engine: str, name: str, fields: Sequence[Field], owner: Step | LoopStart) -> Instruction:
    return Instruction(engine, name, fields, place=owner.place, core=owner.core)


def _value(value: Register | int, engine: str, key: str) -> Field:
    return (key, value.held(engine)) if isinstance(value, Register) else ("imm", value)


def _step(step: Step, engine: str) -> Instruction:
    fields: list[Field] = [("rd", step.target.held(engine))]
    if step.name == "reg_load":
        return Instruction(engine, step.name, [*fields, *step.fields], step.reads, (), step.place, step.core)
    first, *others = step.sources
    if step.name == "reg_alu":
        assert isinstance(first, Register)
        fields += [("ra", first.held(engine)), _value(others[0], engine, "rb"), ("op", step.operator)]
    else:
        fields.append(_value(first, engine, "ra"))
    return _control(engine, step.name, fields, step)


def _begin(loop: LoopStart, parties: _Parties) -> Iterator[Item]:
    yield Fence(loop.core, parties.around(loop), loop.place)
    for engine in parties.inside(loop):
        end = ("target", parties.label(loop, engine, "end"))
        if loop.condition is not None:
            first = _control(engine, "branch", [("if", "eq"), ("ra", loop.condition.held(engine)), ("imm", 0), end], loop)
        else:
            assert loop.counter is not None
            counter = loop.counter.held(engine)
            yield _control(engine, "reg_move", [("rd", counter), _value(loop.lower, engine, "ra")], loop)
            yield _control(engine, "branch", [("if", "ge"), ("ra", counter), _value(loop.upper, engine, "rb"), end], loop)
            first = _control(engine, "nop", [], loop)
        first.label = parties.label(loop, engine, "pass")
        yield first


def _end(loop: LoopStart, parties: _Parties) -> Iterator[Item]:
    yield Fence(loop.core, parties.inside(loop), loop.place)
    for engine in parties.inside(loop):
        again = ("target", parties.label(loop, engine, "pass"))
        if loop.condition is not None:
            yield _control(engine, "branch", [again], loop)
        else:
            assert loop.counter is not None
            step: list[Field] = [("rd", loop.counter.held(engine)), ("step", loop.step), _value(loop.upper, engine, "rb"), again]
            yield _control(engine, "loop", step, loop)
        after = _control(engine, "nop", [], loop)
        after.label = parties.label(loop, engine, "end")
        yield after
    yield Fence(loop.core, parties.around(loop), loop.place)
