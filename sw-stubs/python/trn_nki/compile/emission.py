# SPDX-License-Identifier: Apache-2.0
"""The text of a program, which trn-asm assembles to a program set (doc/programs.md)."""
from __future__ import annotations

from typing import Iterable

from trn_nki.compile.collectives import Collective, collectives_of
from trn_nki.compile.program import ELEMENT_WORDS, ENGINES, LIST_ENTRIES, Buffer, Copy, Corner, Generated, Instruction, Part, Program, Side

QUEUES = {"sync": (0, 1, 2, 3), "gpsimd": (4, 5, 6, 7), "generator": (8, 9, 10, 11, 12)}
QUEUES_BESIDE_COLLECTIVES = QUEUES | {"sync": (0, 1), "gpsimd": (2, 3)}  # collectives use 4 to 7


def emit(program: Program) -> str:
    """Preconditions: buffers are allocated, waits are assigned."""
    lines = [f".generation v{program.generation.number}", f".cores {program.cores}"]
    for array in program.arrays:
        shape = ", ".join(str(extent) for extent in array.shape or (1,))
        lines.append(f".tensor {array.name} {ELEMENT_WORDS[array.dtype.name]} [{shape}] {array.role} core={array.core}")
    for core in range(program.cores):
        mine = [item for item in program.instructions if item.core == core and isinstance(item, Instruction)]
        lines.append(f".core {core}")
        copies = _Copies(program, core)
        starts = {copy: copies.lines(copy) for copy in mine if isinstance(copy, Copy)}
        lines += copies.declarations
        for engine in ENGINES:
            stream = [instruction for instruction in mine if instruction.engine == engine]
            if not stream:
                continue
            lines.append(f".engine {engine}")
            place = None
            for instruction in stream:
                if instruction.place is not None and instruction.place is not place:
                    place = instruction.place
                    lines.append(f'.source {place.line} "{place.file}"')
                lines += _lines(instruction, starts[instruction] if isinstance(instruction, Copy) else ())
            lines.append("halt")
    return "\n".join(lines) + "\n"


class _Copies:
    """Names, queues and texts of a core's copies. An engine uses its queues in turn."""

    def __init__(self, program: Program, core: int):
        self._pitch, self._core = program.generation.sbuf_bytes, core
        self._turns: dict[str, int] = {}
        self._queues = QUEUES_BESIDE_COLLECTIVES if collectives_of(program) else QUEUES
        self.declarations: list[str] = []

    def lines(self, copy: Copy) -> list[str]:
        """The instructions that start the copy; declares its transfers."""
        if isinstance(copy, Collective):
            return [copy.trigger()]
        found = []
        for part in copy.parts:
            if isinstance(part, Generated):
                found.append(
                    f"dge_copy engines={part.engines:#x} queue={self._queue('generator')} "
                    f"semaphore={copy.semaphore} piece={part.size} source={self._corner(part.source)} "
                    f"destination={self._corner(part.destination)}{_options(part)}"
                )
                continue
            name = f"move{self._core}_{len(self.declarations)}"
            self.declarations.append(
                f".transfer {name} {_side(part.source, part)} -> {_side(part.destination, part)} "
                f"shape=({part.rows}, {part.blocks}, {part.size}) queue={self._queue(copy.engine)} "
                f"engines={part.engines:#x} S[{copy.semaphore}]"
            )
            found.append(f"dma_start {name}")
        return found

    def _queue(self, owner: str) -> int:
        turn = self._turns[owner] = self._turns.get(owner, -1) + 1
        return self._queues[owner][turn % len(self._queues[owner])]

    def _corner(self, corner: Corner) -> str:
        dims = ", ".join(f"{count}:{stride * self._pitch if over else stride}" for count, stride, over in corner.dims)
        register = f" + {corner.register.text()} * {corner.unit}" if corner.register else ""
        if isinstance(corner.base, Buffer):
            byte = (corner.base.first + corner.partition) * self._pitch + corner.base.offset + corner.offset
            return f"@core{corner.base.core}.sbuf + {byte}{register} [{dims}]"
        return f"@{corner.base.name} + {corner.offset}{register} [{dims}]"


def _options(part: Generated) -> str:
    limit = max(end.limit for end in (part.source, part.destination))
    return (f" limit={limit:#x}" if limit else "") + (" transpose" if part.is_transpose else "") + (" oob_skip" if part.skips else "")


def _side(side: Side, part: Part) -> str:
    if isinstance(side.base, Buffer):
        first = side.base.first + side.partition
        core = f"core{side.base.core}."
        step = f", {side.block}" if part.blocks > 1 else ""
        return f"{core}{side.base.memory}[{first}:{first + part.rows}, {side.base.offset + side.offset}{step}]"
    wrapped = [value % (1 << 64) for value in (side.offset, side.row, side.block)]
    return f"{side.base.name}@({wrapped[0]}, {wrapped[1]}, {wrapped[2]})"


def _lines(instruction: Instruction, starts: Iterable[str]) -> Iterable[str]:
    conditions = [f"S[{semaphore}]>={value}" for _, semaphore, value in instruction.waits]
    header = conditions[:1]
    if instruction.label:
        yield f"{instruction.label}:"
    for first in range(1, len(conditions), LIST_ENTRIES):
        listed = conditions[first : first + LIST_ENTRIES]
        yield "event_semaphore " + " ".join(f"wait {condition}" for condition in listed)
    prefix = "".join(f"wait {condition} " for condition in header)
    if isinstance(instruction, Copy):
        for start in starts:
            yield prefix + start
            prefix = ""
        return
    update = f"update S[{instruction.update[1]}]+=1 " if instruction.update else ""
    yield f"{prefix}{update}{instruction.text()}"
