# SPDX-License-Identifier: Apache-2.0
"""Lowers DMA copies, transposes, and rows by index."""
from __future__ import annotations

import dataclasses
import math
from typing import Any

from trn_nki.compile.copies import PARTITION, Pattern, Unlike, divide, pieces, transposes
from trn_nki.compile.indexed_copies import IndexedCopies
from trn_nki.compile.operands import Operands
from trn_nki.compile.program import Buffer, Copy, Field, Generated, Program, Tile
from trn_nki.compile.rows import Rows
from trn_nki.compile.transfers import Pair, directed, whole
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor, has_kind
from trn_nki.values import data_types
from trn_nki.values.engines import oob_mode
from trn_nki.values.generations import PARTITIONS

MAX_CONVERTED = 1 << 20  # elements at once


class Moves:
    """Appends copies to the program. Sync starts copies to on-chip memory, GPSIMD the others, so that
    a result that is not ready does not delay the loads of the next step."""

    def __init__(self, program: Program, operands: Operands):
        self.program, self.operands = program, operands
        self.rows = Rows(operands, self)
        self.indexed = IndexedCopies(operands, self.rows, self)
        self.generated = 0  # number of copies with generated descriptors, which use the DMA engines in turn

    def dma_copy(self, arguments: dict[str, Any]) -> None:
        dst, src = arguments["dst"], arguments["src"]
        if has_kind(dst, "vector") or has_kind(src, "vector"):
            self.rows.copy(dst, src, arguments["oob_mode"])
        elif not data_types.keep_bits(dst.dtype, src.dtype):
            self._convert(dst, src)
        elif dst.is_indirect() or src.is_indirect():
            self.indexed.copy(Pair(src, dst), arguments["oob_mode"] is oob_mode.skip)
        else:
            self.copy(Pair(self.operands.pattern(src), self.operands.pattern(dst)), src.dtype.itemsize)

    @property
    def has_generators(self) -> bool:
        return self.program.generation.number > 2

    def generate(self, parts: list[Generated]) -> None:
        """Appends a copy by descriptor generators."""
        self.generated += 1
        self.program.instructions.append(Copy("sync", parts, self.operands.place, self.operands.core))

    def _by_rows(self, sides: Pair[Pattern], size: int) -> None:
        """A copy in a loop on Trainium1."""
        source, destination = sides
        reads = isinstance(destination.base, Buffer)
        if reads != isinstance(source.base, Buffer):
            self.rows.strided(*((source, destination) if reads else (destination, source)), size, reads)
            return
        if reads:  # between tiles
            between = self._hbm(destination, size)
        else:
            partitions = next(n for n in range(PARTITIONS, 0, -1) if source.elements % n == 0)
            kind = data_types.uint8
            made = self.operands.made(partitions, source.elements // partitions * size, kind, "a copy")
            between = Pattern(made.buffer, 0, ((source.elements // partitions, size), (partitions, PARTITION)))
        self._by_rows(Pair(source, between), size)
        self._by_rows(Pair(between, destination), size)

    def _hbm(self, like: Pattern, size: int) -> Pattern:
        """Scratch memory for elements in the order of a pattern."""
        dims, stride = [], size
        for count, _ in like.dims:
            dims.append((count, stride))
            stride *= count
        return Pattern(self.operands.scratch(data_types.uint8, (stride,)), 0, tuple(dims))

    def dma_compute(self, arguments: dict[str, Any]) -> None:
        """The sum of the sources, computed by Vector in the order and with the rounding of the DMA engines: transfers of
        program sets are plain copies."""
        dst, sources = arguments["dst"], arguments["srcs"]
        total = self.operands.temporary(dst, data_types.float32)
        for number, source in enumerate(sources):
            tile = self._on_chip(source)
            if number == 0:  # through FP32, which makes NaNs canonical
                self.operands.append("vector", "tensor_scalar", [("op0", "bypass"), ("dst", total), ("a", tile)], [tile], [total])
            else:
                fields: list[Field] = [("op0", "add"), ("dst", total), ("a", total), ("b", tile)]
                self.operands.append("vector", "tensor_tensor", fields, [total, tile], [total])
        if dst.is_on_chip and self.operands.is_legal(dst):
            self.append_copy(self.operands.tile(dst), total)
            return
        result = self.operands.temporary(dst, dst.dtype)
        self.append_copy(result, total)
        self.copy(Pair(whole(result), self.operands.pattern(dst)), dst.dtype.itemsize)

    def _on_chip(self, view: NkiTensor) -> Tile:
        """A tile with the view's elements: the view's own, or a copy."""
        if view.indirection is not None:
            return self.rows.gathered(view)
        if view.is_on_chip and self.operands.is_legal(view):
            return self.operands.tile(view)
        made = self.operands.temporary(view, view.dtype)
        self.copy(Pair(self.operands.pattern(view), whole(made)), view.dtype.itemsize)
        return made

    def dma_transpose(self, arguments: dict[str, Any]) -> None:
        """The elements of dst in order are those of src with its dimensions in another order."""
        dst, src, axes = arguments["dst"], arguments["src"], arguments["axes"]
        rank = len(src.shape)
        order: tuple[int, ...] = tuple(axes) if axes else (rank - 1, *range(1, rank - 1), 0)
        if dst.dtype.itemsize != src.dtype.itemsize:
            raise KernelError("dma_transpose does not convert types", "8.2", self.operands.place)
        source = self.operands.pattern(src)
        dims = tuple(source.dims[rank - 1 - axis] for axis in reversed(order))
        self.copy(Pair(Pattern(source.base, source.offset, dims), self.operands.pattern(dst)), src.dtype.itemsize)

    def copy(self, sides: Pair[Pattern], size: int) -> None:
        source, destination = sides
        place = self.operands.place
        if self.operands.steps.loop is not None:
            # Descriptors of a ring can be used once only.
            if self.has_generators:
                self.generate(pieces(source, destination, size, self.generated, place))
            else:
                self._by_rows(sides, size)
            return
        if size == 2 and self.program.generation.number > 2:
            matrices = transposes(source, destination, 4 * self.generated, place)
            if matrices is not None:
                self.generate([matrices])
                return
        try:
            parts = divide(source, destination, size, place)
        except Unlike:
            # Between partitions, through HBM: both halves are copies of rows.
            between = self._hbm(destination, size)
            self.copy(Pair(source, between), size)
            self.copy(Pair(between, destination), size)
            return
        engine = "sync" if isinstance(destination.base, Buffer) else "gpsimd"
        self.program.instructions.append(Copy(engine, parts, place, self.operands.core))

    def _convert(self, dst: NkiTensor, src: NkiTensor) -> None:
        """Converts the type on Vector, in addition to the copy."""
        if src.is_on_chip and self._can_compute(src):
            made = self.operands.temporary(src, dst.dtype)
            self.append_copy(made, self.operands.tile(src))
            self.from_tile(dst, made)
        elif dst.is_on_chip and self._can_compute(dst):
            made = self.operands.temporary(dst, src.dtype)
            self._plain(src, whole(made), True)
            self.append_copy(self.operands.tile(dst), made)
        elif dst.size > MAX_CONVERTED and dst.shape[0] == src.shape[0] > 1:
            half = dst.shape[0] // 2
            for rows in (slice(0, half), slice(half, None)):
                self._convert(dst[rows], src[rows])
        else:
            divided = dst.size if dst.is_contiguous() and src.is_contiguous() else math.gcd(dst.shape[0], src.shape[0])
            partitions = next(n for n in range(min(PARTITIONS, divided), 0, -1) if divided % n == 0)
            before = self.operands.made(partitions, dst.size // partitions, src.dtype, "a copy of " + src.name)
            after = self.operands.made(partitions, dst.size // partitions, dst.dtype, "a copy of " + src.name)
            self._plain(src, whole(before), True)
            self.append_copy(after, before)
            self._plain(dst, whole(after), False)

    def _can_compute(self, view: NkiTensor) -> bool:
        return view.indirection is None and self.operands.is_legal(view)

    def _plain(self, view: NkiTensor, tile: Pattern, reads: bool) -> None:
        """Copies between a view, which may have a scalar index, and a tile of its type."""
        if view.indirection is not None:
            self.indexed.copy(directed(view, tile, reads), False)
            return
        self.copy(directed(self.operands.pattern(view), tile, reads), view.dtype.itemsize)

    def from_tile(self, dst: NkiTensor, tile: Tile) -> None:
        """dst = a tile with the elements in order, of any type."""
        if not data_types.keep_bits(dst.dtype, tile.dtype):
            made = self.operands.made(tile.partitions, tile.elements, dst.dtype, "a copy of " + dst.name)
            self.append_copy(made, tile)
            tile = made
        self._plain(dst, whole(tile), False)

    def to_tile(self, tile: Tile, src: NkiTensor) -> None:
        """The tile's elements in order = those of src."""
        if data_types.keep_bits(src.dtype, tile.dtype):
            self._plain(src, whole(tile), True)
            return
        made = self.operands.made(tile.partitions, tile.elements, src.dtype, "a copy of " + src.name)
        self._plain(src, whole(made), True)
        self.append_copy(tile, made)

    def append_copy(self, dst: Tile, src: Tile) -> None:
        if dst.dtype is src.dtype and not data_types.exists(dst.dtype, self.program.generation.number):
            kind = data_types.OF_BITS[dst.dtype.itemsize]
            dst, src = dataclasses.replace(dst, dtype=kind), dataclasses.replace(src, dtype=kind)
        self.operands.append("vector", "copy", [("dst", dst), ("a", src)], [src], [dst])
