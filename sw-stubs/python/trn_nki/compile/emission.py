# SPDX-License-Identifier: Apache-2.0
"""The text of a program, which trn-asm makes a program set of (doc/programs.md)."""
from __future__ import annotations

from typing import Any, Iterable

from trn_nki.compile.program import ELEMENT_WORDS, ENGINES, Buffer, Copy, Instruction, Part, Program, Side

LIST_ENTRIES = 6  # of an event_semaphore
QUEUES = {"sync": (0, 1, 2, 3), "scalar": (4, 5), "gpsimd": (6, 7), "vector": (8, 9), "tensor": (10, 11)}


def emit(program: Program) -> str:
    """Precondition: buffers have places, instructions have waits."""
    lines = [f".generation v{program.generation.number}", f".cores {program.cores}"]
    for array in program.arrays:
        shape = ", ".join(str(extent) for extent in array.shape or (1,))
        lines.append(f".tensor {array.name} {ELEMENT_WORDS[array.dtype.name]} [{shape}] {array.role} core={array.core}")
    for core in range(program.cores):
        mine = [one for one in program.instructions if one.core == core]
        lines.append(f".core {core}")
        lines += _transfers(mine, core)
        for engine in ENGINES:
            stream = [one for one in mine if one.engine == engine]
            if not stream:
                continue
            lines.append(f".engine {engine}")
            place = None
            for one in stream:
                if one.place is not None and one.place is not place:
                    place = one.place
                    lines.append(f'.source {place.line} "{place.file}"')
                lines += _lines(one, core)
            lines.append("halt")
    return "\n".join(lines) + "\n"


def _transfers(mine: Iterable[Instruction], core: int) -> Iterable[str]:
    turns: dict[str, int] = {}
    count = 0
    for one in mine:
        if not isinstance(one, Copy):
            continue
        queues = QUEUES[one.engine]
        turn = turns[one.engine] = turns.get(one.engine, -1) + 1
        one.queue = queues[turn % len(queues)]
        one.names = []
        for part in one.parts:
            name = f"t{core}_{count}"
            count += 1
            one.names.append(name)
            yield (f".transfer {name} {_side(part.source, part)} -> {_side(part.destination, part)} "
                   f"shape=({part.rows}, {part.blocks}, {part.size}) queue={one.queue} "
                   f"engines={one.engines:#x} S[{one.semaphore}]")


def _side(side: Side, part: Part) -> str:
    if isinstance(side.of, Buffer):
        first = side.of.first + side.partition
        core = f"core{side.of.core}."
        step = f", {side.block}" if part.blocks > 1 else ""
        return f"{core}{side.of.memory}[{first}:{first + part.rows}, {side.of.offset + side.offset}{step}]"
    wrapped = [value % (1 << 64) for value in (side.offset, side.row, side.block)]
    return f"{side.of.name}@({wrapped[0]}, {wrapped[1]}, {wrapped[2]})"


def _lines(one: Instruction, core: int) -> Iterable[str]:
    conditions = [f"S[{semaphore}]>={value}" for at, semaphore, value in one.waits]
    header = conditions[:1]
    for first in range(1, len(conditions), LIST_ENTRIES):
        listed = conditions[first:first + LIST_ENTRIES]
        yield "event_semaphore " + " ".join(f"wait {condition}" for condition in listed)
    if one.label:
        yield f"{one.label}:"
    prefix = "".join(f"wait {condition} " for condition in header)
    if isinstance(one, Copy):
        for name in one.names:
            yield f"{prefix}dma_start {name}"
            prefix = ""
        return
    update = f"update S[{one.update[1]}]+=1 " if one.update else ""
    yield f"{prefix}{update}{one.text()}"
