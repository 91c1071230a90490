# SPDX-License-Identifier: Apache-2.0
"""Lowers DMA copies and transposes."""
from __future__ import annotations

from typing import Any

from trn_nki.compile.copies import PARTITION, Pattern, Unlike, divide, transposes
from trn_nki.compile.operands import Operands
from trn_nki.compile.program import Buffer, Copy, Instruction, Program, Tile
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor


class Moves:
    """Appends copies to the program. Sync starts those that end on the chip, GPSIMD the others, so that a result that
    is not ready does not hold up what the next step loads."""

    def __init__(self, program: Program, operands: Operands):
        self.program, self.operands = program, operands
        self._transposes = 0  # made so far: they take DMA engines in turn

    def dma_copy(self, arguments: dict[str, Any]) -> None:
        dst, src = arguments["dst"], arguments["src"]
        if dst.dtype == src.dtype or dst.dtype.code == src.dtype.code:
            self.copy(self.operands.pattern(src), self.operands.pattern(dst), src.dtype.itemsize)
        else:
            self._convert(dst, src)

    def dma_transpose(self, arguments: dict[str, Any]) -> None:
        """The elements of dst in order are those of src with its dimensions in another order."""
        dst, src, axes = arguments["dst"], arguments["src"], arguments["axes"]
        rank = len(src.shape)
        order = tuple(axes) if axes else (rank - 1, *range(1, rank - 1), 0)
        if dst.dtype.itemsize != src.dtype.itemsize:
            raise KernelError("dma_transpose does not convert types", "8.2", self.operands.place)
        source = self.operands.pattern(src)
        by_dimension = tuple(reversed(source.dims))
        dims = tuple(reversed([by_dimension[axis] for axis in order]))
        self.copy(Pattern(source.of, source.offset, dims), self.operands.pattern(dst), src.dtype.itemsize)

    def copy(self, source: Pattern, destination: Pattern, size: int) -> None:
        place = self.operands.place
        if size == 2 and self.program.generation.number > 2:
            matrices = transposes(source, destination, 4 * self._transposes, place)
            if matrices is not None:
                self._transposes += 1
                self.program.instructions.append(Copy("sync", [matrices], place, self.operands.core))
                return
        try:
            parts = divide(source, destination, size, place)
        except Unlike:
            # From partitions to partitions across: HBM has no such order, so both halves are rows.
            bytes_array = self.operands.scratch(_Byte, (source.elements * size,))
            dims, stride = [], size
            for count, _ in destination.dims:
                dims.append((count, stride))
                stride *= count
            between = Pattern(bytes_array, 0, tuple(dims))
            self.copy(source, between, size)
            self.copy(between, destination, size)
            return
        engine = "sync" if isinstance(destination.of, Buffer) else "gpsimd"
        self.program.instructions.append(Copy(engine, parts, place, self.operands.core))

    def _convert(self, dst: NkiTensor, src: NkiTensor) -> None:
        """Converts on Vector, beside the copy."""
        if src.is_on_chip:
            like, made = src, self.operands.temporary(src, dst.dtype)
            self._append_copy(made, self.operands.tile(src))
            size = dst.dtype.itemsize
            pattern = Pattern(made.buffer, 0, ((made.elements, size), (like.shape[0], PARTITION)))
            self.copy(pattern, self.operands.pattern(dst), size)
        elif dst.is_on_chip:
            made = self.operands.temporary(dst, src.dtype)
            size = src.dtype.itemsize
            pattern = Pattern(made.buffer, 0, ((made.elements, size), (dst.shape[0], PARTITION)))
            self.copy(self.operands.pattern(src), pattern, size)
            self._append_copy(self.operands.tile(dst), made)
        else:
            raise KernelError(f"a copy from {src.dtype} to {dst.dtype} between tensors in HBM is not compiled; copy "
                              "through a tile", "15.3", self.operands.place)

    def _append_copy(self, dst: Tile, src: Tile) -> None:
        self.program.instructions.append(Instruction("vector", "copy", [("dst", dst), ("a", src)], [src], [dst],
                                                     self.operands.place, self.operands.core))


class _Byte:
    """The element type of scratch memory that only copies touch."""

    name, itemsize = "uint8", 1


__all__ = ["Moves"]
