# SPDX-License-Identifier: Apache-2.0
"""Loops of the device and registers as instructions of each engine (doc/decisions/0024-loops-are-closed-regions.md).

Engines share no registers. So each engine executes the steps that compute the registers it needs, and each engine with
work in a loop executes the loop.
"""
from __future__ import annotations

from typing import Any, Iterator

from trn_nki.compile.program import ENGINES, Fence, Held, Instruction, LoopEnd, LoopStart, Program, Register, Step

MASTER = "sync"  # of a fence


def expand(program: Program) -> None:
    """Replaces Step, LoopStart and LoopEnd by instructions, and records where loops begin and end."""
    if not any(isinstance(one, (Step, LoopStart)) for one in program.instructions):
        return
    parties = {core: _Parties([one for one in program.instructions if one.core == core]) for core in range(program.cores)}
    found: list[Any] = []
    begins: dict[LoopStart, int] = {}
    for one in program.instructions:
        if isinstance(one, Step):
            found += (_step(one, engine) for engine in ENGINES if engine in one.target.holders)
        elif isinstance(one, LoopStart):
            begins[one] = len(found)
            found += _begin(one, parties[one.core])
        elif isinstance(one, LoopEnd):
            found += _end(one.start, parties[one.core])
            program.loops.append((one.start, begins[one.start], len(found) - 1))
        else:
            found.append(one)
    program.instructions = found


class _Parties:
    """The engines of one core that execute each loop and hold each register."""

    def __init__(self, items: list[Any]):
        self.engines: set[str] = {MASTER}  # with instructions
        self.of_loop: dict[LoopStart, set[str]] = {}
        self._loop_of: dict[Any, LoopStart | None] = {}
        self._written_in: dict[Register, set[LoopStart]] = {}
        self._steps = [one for one in items if isinstance(one, Step)]
        self._label = {one: number for number, one in enumerate(one for one in items if isinstance(one, LoopStart))}
        inside: LoopStart | None = None
        for one in items:
            self._loop_of[one] = inside
            if isinstance(one, LoopStart):
                self.of_loop[one] = {MASTER}
                inside = one
            elif isinstance(one, LoopEnd):
                inside = one.start.parent
            elif isinstance(one, Step):
                if inside is not None:
                    self._written_in.setdefault(one.target, set()).add(inside)
            else:
                self._joins(one.engine, inside)
        while self._spread():
            pass

    def label(self, loop: LoopStart, engine: str, what: str) -> str:
        return f"loop{loop.core}_{self._label[loop]}_{engine}_{what}"

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

        def needs(engine: str, value: Any) -> None:
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


def _control(engine: str, name: str, fields: list[Any], place: Any, core: int) -> Instruction:
    return Instruction(engine, name, fields, place=place, core=core)


def _value(value: Any, engine: str, key: str) -> tuple[str, Any]:
    return (key, value.held(engine)) if isinstance(value, Register) else ("imm", int(value))


def _step(step: Step, engine: str) -> Instruction:
    fields: list[Any] = [("rd", step.target.held(engine))]
    if step.name == "reg_load":
        return Instruction(engine, step.name, [*fields, *step.fields], step.reads, (), step.place, step.core)
    if step.name == "reg_alu":
        fields += [("ra", step.sources[0].held(engine)), _value(step.sources[1], engine, "rb"), ("op", step.operator)]
    else:
        fields.append(_value(step.sources[0], engine, "ra"))
    return _control(engine, step.name, fields, step.place, step.core)


def _begin(loop: LoopStart, parties: _Parties) -> Iterator[Any]:
    yield Fence(loop.core, parties.around(loop), loop.place)
    for engine in parties.inside(loop):
        end = parties.label(loop, engine, "end")
        if loop.condition is not None:
            test = [("if", "eq"), ("ra", loop.condition.held(engine)), ("imm", 0), ("target", end)]
            first = _control(engine, "branch", test, loop.place, loop.core)
        else:
            counter = loop.counter.held(engine)
            yield _control(engine, "reg_move", [("rd", counter), _value(loop.lower, engine, "ra")], loop.place, loop.core)
            yield _control(
                engine, "branch", [("if", "ge"), ("ra", counter), _value(loop.upper, engine, "rb"), ("target", end)], loop.place, loop.core
            )
            first = _control(engine, "nop", [], loop.place, loop.core)
        first.label = parties.label(loop, engine, "pass")
        yield first


def _end(loop: LoopStart, parties: _Parties) -> Iterator[Any]:
    yield Fence(loop.core, parties.inside(loop), loop.place)
    for engine in parties.inside(loop):
        again = ("target", parties.label(loop, engine, "pass"))
        if loop.condition is not None:
            yield _control(engine, "branch", [again], loop.place, loop.core)
        else:
            yield _control(
                engine,
                "loop",
                [("rd", loop.counter.held(engine)), ("step", loop.step), _value(loop.upper, engine, "rb"), again],
                loop.place,
                loop.core,
            )
        after = _control(engine, "nop", [], loop.place, loop.core)
        after.label = parties.label(loop, engine, "end")
        yield after
    yield Fence(loop.core, parties.around(loop), loop.place)


__all__ = ["Held", "MASTER", "expand"]
