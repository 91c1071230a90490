# SPDX-License-Identifier: Apache-2.0
"""Divides DMA copies between two access patterns into rows of blocks of contiguous bytes."""
from __future__ import annotations

import dataclasses
import math
from typing import TypeAlias

from trn_nki.compile.program import Base, Buffer, Corner, Generated, Part, Side
from trn_nki.diagnostics.errors import KernelError
from trn_nki.diagnostics.places import Place

PARTITION = 1 << 40  # stride of one partition, in bytes, in patterns of on-chip memory
MAX_DESCRIPTORS = 60_000  # per engine and part
MAX_PARTS = 4_096
MAX_PIECE_DIMENSIONS = 4
MATRIX_SIDES = (64, 32, 16)  # matrices that one packet transposes


Dim: TypeAlias = tuple[int, int, int]  # count, stride in the source, stride in the destination


@dataclasses.dataclass(frozen=True)
class Pattern:
    """Elements of an array or a buffer in order: (count, stride in bytes), the fastest dimension first."""

    base: Base
    offset: int  # bytes; on chip partition * PARTITION + byte
    dims: tuple[tuple[int, int], ...]

    @property
    def elements(self) -> int:
        return math.prod(count for count, _ in self.dims)


class Unlike(Exception):
    """The partitions of both sides do not match."""


def divide(source: Pattern, destination: Pattern, size: int, place: Place | None) -> list[Part]:
    """Parts that copy the elements of `size` bytes. Raises KernelError, and Unlike when the copy must go through HBM."""
    _check_sizes(source, destination, place)
    run, dims = _run(_merge(_refine(source.dims, destination.dims, place)), size)
    on_chip = [index for index, side in ((1, source), (2, destination)) if isinstance(side.base, Buffer)]
    row = _row(dims, on_chip)
    rest = [dim for dim in dims if dim is not row]
    if any(_is_partition(dim[index]) for dim in rest for index in on_chip):
        if len(on_chip) == 2:
            raise Unlike
        # Partitions that cannot be rows are copied one by one.
    block = max(
        (dim for dim in rest if _is_forward(dim) and all(dim[i] > 0 and not _is_partition(dim[i]) for i in on_chip)),
        key=lambda dim: dim[0],
        default=None,
    )
    rest = [dim for dim in rest if dim is not block]
    if math.prod(dim[0] for dim in rest) > MAX_PARTS:
        raise KernelError(
            f"the copy takes {math.prod(dim[0] for dim in rest)} descriptor lists of blocks, at most {MAX_PARTS} are possible",
            "15.3",
            place,
        )
    parts: list[Part] = []
    rows, blocks = row or (1, 0, 0), block or (1, 0, 0)
    for begin in _starts(rest):
        sides = [_side(side, side.offset + begin[i], rows[i + 1], blocks[i + 1]) for i, side in enumerate((source, destination))]
        parts += _bounded(Part(sides[0], sides[1], rows[0], blocks[0], run))
    return parts


def transposes(source: Pattern, destination: Pattern, first_engine: int, place: Place | None) -> Generated | None:
    """The copy of 2-byte elements as transposes of square matrices, if it is one: the source is contiguous along one
    dimension, the destination along another."""
    on_chip = [side.base for side in (source, destination) if isinstance(side.base, Buffer)]
    if any(buffer.memory != "sbuf" for buffer in on_chip) or source.elements != destination.elements:
        return None
    dims = _merge(_refine(source.dims, destination.dims, place))
    along = next((dim for dim in dims if dim[1] == 2 and dim[2] != 2), None)
    across = next((dim for dim in dims if dim[2] == 2 and dim[1] != 2), None)
    rest = [dim for dim in dims if dim is not along and dim is not across]
    if along is None or across is None or len(rest) > 1:
        return None
    side = next((n for n in MATRIX_SIDES if along[0] % n == 0 and across[0] % n == 0), None)
    if side is None:
        return None
    rows = [
        (side, across[1], along[2]),
        (along[0] // side, 2 * side, side * along[2]),
        (across[0] // side, side * across[1], 2 * side),
        *rest,
    ]
    engines = _engines(math.prod(count for count, _, _ in rows[1:]), first_engine)

    return Generated(_corner(source, rows, 1), _corner(destination, rows, 2), 2 * side, engines, True)


def pieces(source: Pattern, destination: Pattern, size: int, first_engine: int, place: Place | None) -> list[Generated]:
    """The copy as pieces for descriptor generators. Raises KernelError."""
    _check_sizes(source, destination, place)
    dims = _merge(_refine(source.dims, destination.dims, place))
    piece, others = _run(dims, size)
    if piece < 1 << 16:
        dims = others
    else:
        piece = size
    dims = sorted(dims, key=lambda dim: dim[0]) or [(1, 0, 0)]
    dims, rest = dims[-MAX_PIECE_DIMENSIONS:], dims[:-MAX_PIECE_DIMENSIONS]
    if math.prod(dim[0] for dim in rest) > MAX_PARTS or any(count >= 1 << 16 for count, _, _ in dims):
        raise KernelError(
            f"the copy has pieces in {len(dims) + len(rest)} dimensions, at most {MAX_PIECE_DIMENSIONS} of "
            "less than 65,536 are possible",
            "8.2",
            place,
        )
    engines = _engines(math.prod(count for count, _, _ in dims), first_engine)
    found: list[Generated] = []
    for begin in _starts(rest):
        sides = [dataclasses.replace(side, offset=side.offset + begin[number]) for number, side in enumerate((source, destination))]
        found.append(Generated(_corner(sides[0], dims, 1), _corner(sides[1], dims, 2), piece, engines))
    return found


@dataclasses.dataclass(frozen=True)
class Lines:
    """A copy between an array and a tile in runs of bytes: `partitions` runs at a time, `pitch` bytes apart in the array,
    from each of `starts`, which are (byte of the array, byte of the partition)."""

    partitions: int
    pitch: int
    run: int
    starts: tuple[tuple[int, int], ...]


def lines(array: Pattern, tile: Pattern, size: int, place: Place | None) -> Lines:
    """Raises KernelError."""
    run, dims = _run(_merge(_refine(array.dims, tile.dims, place)), size)
    over = [dim for dim in dims if _is_partition(dim[2])]
    if len(over) > 1 or any(dim[2] != PARTITION for dim in over):
        raise KernelError("the copy takes partitions in another order than the tile has them", "8.2", place)
    partitions, pitch = (over[0][0], over[0][1]) if over else (1, 0)
    starts = tuple((array.offset + a, tile.offset % PARTITION + b) for a, b in _starts([d for d in dims if d not in over]))
    return Lines(partitions, pitch, run, starts)


def _check_sizes(source: Pattern, destination: Pattern, place: Place | None) -> None:
    if source.elements != destination.elements:
        raise KernelError(
            f"the copy has {source.elements} elements in its source and {destination.elements} in its destination", "8.2", place
        )


def _run(dims: list[Dim], size: int) -> tuple[int, list[Dim]]:
    """Contiguous bytes of both sides, and the dimensions over which they repeat."""
    if dims and dims[0][1] == dims[0][2] == size:
        return size * dims[0][0], dims[1:]
    return size, dims


def _engines(shares: int, first: int) -> int:
    """A mask of one DMA engine per share, from `first` on."""
    turned = (1 << min(16, shares)) - 1 << first % 16
    return (turned | turned >> 16) & 0xFFFF


def _corner(pattern: Pattern, dims: list[Dim], index: int) -> Corner:
    over = [_is_partition(dim[index]) for dim in dims]
    strides = [dim[index] // PARTITION if is_over else dim[index] for dim, is_over in zip(dims, over)]
    on_chip = isinstance(pattern.base, Buffer)
    return Corner(
        pattern.base,
        pattern.offset % PARTITION if on_chip else pattern.offset,
        pattern.offset // PARTITION if on_chip else 0,
        tuple((dim[0], stride, is_over) for dim, stride, is_over in zip(dims, strides, over)),
    )


def _is_partition(stride: int) -> bool:
    return abs(stride) >= PARTITION // 2


def _row(dims: list[Dim], on_chip: list[int]) -> Dim | None:
    forward = [dim for dim in dims if _is_forward(dim)]
    if not on_chip:
        return max(forward, key=lambda dim: dim[0]) if forward else None
    return next((dim for dim in forward if all(dim[index] == PARTITION for index in on_chip)), None)


def _is_forward(dim: Dim) -> bool:
    """Rows and blocks go forward on both sides; elements in another order are copied one by one."""
    return dim[1] >= 0 and dim[2] >= 0


def _side(pattern: Pattern, offset: int, row: int, block: int) -> Side:
    if isinstance(pattern.base, Buffer):
        return Side(pattern.base, offset % PARTITION, offset // PARTITION, 0, block)
    return Side(pattern.base, offset, 0, row, block)


def _starts(dims: list[Dim]) -> list[tuple[int, int]]:
    starts = [(0, 0)]
    for count, step, pitch in dims:
        starts = [(a + n * step, b + n * pitch) for n in range(count) for a, b in starts]
    return starts


def _bounded(part: Part) -> list[Part]:
    """Splits the part into pieces whose descriptors fit one doorbell write."""
    rows_of_engine = -(-part.rows // 16)
    blocks = part.blocks * -(-part.size // 65_536) * rows_of_engine
    if blocks <= MAX_DESCRIPTORS or part.blocks == 1:
        return [part]
    half = part.blocks // 2

    def piece(first: int, count: int) -> Part:
        moved = [dataclasses.replace(side, offset=side.offset + first * side.block) for side in (part.source, part.destination)]
        return Part(moved[0], moved[1], part.rows, count, part.size)

    return _bounded(piece(0, half)) + _bounded(piece(half, part.blocks - half))


def _refine(first: tuple[tuple[int, int], ...], second: tuple[tuple[int, int], ...], place: Place | None) -> list[Dim]:
    """Common dimensions of both patterns, fastest first."""
    left, right = _joined(first), _joined(second)
    found: list[Dim] = []
    while left and right:
        (a, step), (b, pitch) = left[0], right[0]
        common = math.gcd(a, b)
        if common == 1:
            # Neither count divides the other: the slower dimension of one is split into elements.
            raise KernelError(f"source and destination group their elements by {a} and by {b}: copy them in two steps", "2.3", place)
        found.append((common, step, pitch))
        for dims, count, stride in ((left, a, step), (right, b, pitch)):
            if count == common:
                dims.pop(0)
            else:
                dims[0] = [count // common, stride * common]
    return found


def _joined(dims: tuple[tuple[int, int], ...]) -> list[list[int]]:
    """The dimensions of a pattern, with contiguous ones merged."""
    found: list[list[int]] = []
    for count, stride in dims:
        if found and found[-1][0] * found[-1][1] == stride and count > 1:
            found[-1][0] *= count
        elif count > 1:
            found.append([count, stride])
    return found


def _merge(dims: list[Dim]) -> list[Dim]:
    found: list[Dim] = []
    for dim in dims:
        if found and all(found[-1][0] * found[-1][i] == dim[i] for i in (1, 2)):
            found[-1] = (found[-1][0] * dim[0], *found[-1][1:])
        else:
            found.append(dim)
    return found
