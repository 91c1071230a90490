# SPDX-License-Identifier: Apache-2.0
"""Places of buffers in SBUF and PSUM (doc/spec/neuron-core.md, 15.3 item 5)."""
from __future__ import annotations

from typing import Callable

from trn_nki.compile.program import Buffer, Copy, Instruction, Item, LoopStart, Program, Tile
from trn_nki.diagnostics.errors import KernelError
from trn_nki.values.generations import PSUM_BANK_BYTES, PSUM_BYTES, placed_bytes
from trn_nki.values.lifetimes import extend_through_loops

ALIGNMENT = 64  # of a buffer in SBUF, in bytes of a partition


def allocate(program: Program) -> None:
    """Assigns first partition and offset of every buffer. Raises KernelError if the kernel does not fit."""
    lives = lifetimes(program)
    for core in range(program.cores):
        for memory, usable in (("sbuf", program.generation.usable_sbuf_bytes), ("psum", PSUM_BYTES)):
            chosen = [life for life in lives if life[2].memory == memory and life[2].core == core]
            _place(chosen, memory, usable)


def lifetimes(program: Program) -> list[tuple[int, int, Buffer]]:
    """First and last instruction of each buffer, ordered by the first. A buffer that a loop uses is live throughout the
    loop if it was allocated outside of its body, or is read there before it is written."""
    found: dict[Buffer, list[int]] = {}
    carried: set[Buffer] = set()
    for number, item in enumerate(program.instructions):
        for buffer in item.buffers():
            if buffer not in found and program.loops and buffer.loop is not None and not _is_written(item, buffer):
                carried.add(buffer)
            found.setdefault(buffer, [number, number])[1] = number
    extend_through_loops(found, program.loops, lambda buffer, loop: loop.core != buffer.core or _encloses(loop, buffer.loop))
    for loop, first, last in program.loops:
        for buffer in carried:
            if buffer.loop is loop:
                found[buffer] = [first, last]
    return sorted(((first, last, buffer) for buffer, (first, last) in found.items()), key=lambda life: life[0])


def _encloses(loop: LoopStart, inner: LoopStart | None) -> bool:
    while inner is not None:
        if inner is loop:
            return True
        inner = inner.parent
    return False


def _is_written(item: Item, buffer: Buffer) -> bool:
    """Whether an instruction writes the buffer without reading it."""
    if isinstance(item, Copy) and any(part.destination.base is buffer for part in item.parts):
        return True
    if not isinstance(item, Instruction):
        return False
    reads, writes = ([tile.buffer for tile in tiles if isinstance(tile, Tile)] for tiles in (item.reads, item.writes))
    return buffer in writes and buffer not in reads


def _place(lives: list[tuple[int, int, Buffer]], memory: str, usable: int) -> None:
    for _, _, buffer in lives:
        if buffer.is_fixed and buffer.offset + buffer.size > usable:
            raise KernelError(
                f"a tile of {buffer.size} bytes per partition at byte {buffer.offset} does not fit into the {usable} of "
                f"{memory.upper()}",
                "2.1",
                buffer.place,
            )
    # Rotating through memory lets engines work on several buffers at once; if that does not fit,
    # the lowest free bytes are used.
    if _try(lives, memory, usable, rotate=True) is None:
        return
    failed = _try(lives, memory, usable, rotate=False)
    if failed is None:
        return
    buffer, used, free = failed
    size = placed_bytes(memory, buffer.size)
    raise KernelError(
        f"{buffer.name or 'the tile'} needs {size} bytes of each partition of {memory.upper()}: {used} of {usable} "
        f"are in use here with the compiler's copies, and the largest free piece has {free}, so {size - free} are "
        "missing",
        "15.3",
        buffer.place,
    )


def _try(lives: list[tuple[int, int, Buffer]], memory: str, usable: int, rotate: bool) -> tuple[Buffer, int, int] | None:
    """Places the buffers without a fixed address. Returns the first that does not fit, bytes in use, largest free piece."""
    fixed = [life for life in lives if life[2].is_fixed]
    active: list[tuple[int, int, int]] = []  # last instruction, first byte, end
    next_byte = 0
    for first, last, buffer in lives:
        if buffer.is_fixed:
            continue
        active = [living for living in active if living[0] >= first]
        taken = [(low, high) for _, low, high in active]
        taken += [(held.offset, held.offset + held.size) for begin, end, held in fixed if begin <= last and first <= end]
        free = _holes(taken, usable)
        fit = _fitting(memory, buffer.size)
        choice = None
        for min_byte in (next_byte, 0) if rotate else (0,):
            if choice is None:
                choice = next((byte for low, high in free if (byte := fit(max(low, min_byte), high)) is not None), None)
        if choice is None:
            largest = max((high - low for low, high in free), default=0)
            return buffer, usable - sum(high - low for low, high in free), largest
        buffer.offset = choice
        next_byte = choice + placed_bytes(memory, buffer.size)
        active.append((last, choice, next_byte))
    return None


def _holes(taken: list[tuple[int, int]], usable: int) -> list[tuple[int, int]]:
    holes, end = [], 0
    for low, high in sorted(taken):
        if low > end:
            holes.append((end, min(low, usable)))
        end = max(end, high)
    if end < usable:
        holes.append((end, usable))
    return [(low, high) for low, high in holes if low < high]


def _fitting(memory: str, buffer_size: int) -> Callable[[int, int], int | None]:
    """A function that finds the first byte for a buffer in a hole, or None."""
    alignment = PSUM_BANK_BYTES if memory == "psum" else ALIGNMENT
    size = placed_bytes(memory, buffer_size)

    def fit(low: int, high: int) -> int | None:
        first = -(-low // alignment) * alignment
        return first if first + size <= high else None

    return fit
