# SPDX-License-Identifier: Apache-2.0
"""Lowers DMA copies, transposes, and rows by index."""
from __future__ import annotations

import math
from typing import Any

from trn_nki.compile.copies import PARTITION, Pattern, Unlike, divide, pieces, transposes
from trn_nki.compile.operands import Operands
from trn_nki.compile.program import Access, Buffer, Copy, Corner, Held, Instruction, Program, Tile
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors import layout
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values import data_types, operators
from trn_nki.values.engines import oob_mode
from trn_nki.values.generations import PARTITIONS


class Moves:
    """Appends copies to the program. Sync starts those that end on the chip, GPSIMD the others, so that a result that
    is not ready does not hold up what the next step loads."""

    def __init__(self, program: Program, operands: Operands):
        self.program, self.operands = program, operands
        self._generated = 0  # copies so far whose descriptors are generated: they take DMA engines in turn

    def dma_copy(self, arguments: dict[str, Any]) -> None:
        dst, src = arguments["dst"], arguments["src"]
        if any(view.indirection is not None and view.indirection.kind == "vector" for view in (dst, src)):
            self._rows_by_index(dst, src, arguments["oob_mode"])
        elif any(view.indirection is not None for view in (dst, src)):
            self._by_scalar(dst, src, arguments["oob_mode"])
        elif dst.dtype == src.dtype or dst.dtype.code == src.dtype.code:
            self.copy(self.operands.pattern(src), self.operands.pattern(dst), src.dtype.itemsize)
        else:
            self._convert(dst, src)

    def _rows_by_index(self, dst: NkiTensor, src: NkiTensor, out_of_bounds: Any) -> None:
        """GPSIMD gathers rows of a table, or scatters them."""
        gathers = src.indirection is not None
        table, tile = (src, dst) if gathers else (dst, src)
        place, index = self.operands.place, table.indirection
        size = table.dtype.itemsize
        row = math.prod(table.shape[1:])
        plain = index.stride == row and layout.is_contiguous(table.shape[1:], table.strides[1:])
        if not tile.is_on_chip or tile.indirection is not None or not plain or tile.dtype != table.dtype:
            raise KernelError("rows by index are compiled between a tile and whole rows of a table in HBM, of one type",
                              "8.2", place)
        array = self.operands.object(table.storage)
        moved, indices = self.operands.tile(tile), self.operands.tile(index.index)
        whole = Access(array, 0, 1, 0, array.size)
        fields = [("imm", row * size), ("dst" if gathers else "a", moved), ("b", indices),
                  ("s0", f"i32({index.limit})"), ("table", f"@{array.name}+{table.offset * size}"),
                  *(["oob_skip"] if out_of_bounds is oob_mode.skip else [])]
        reads, writes = ([indices, whole], [moved]) if gathers else ([indices, moved], [whole])
        self.program.instructions.append(Instruction("gpsimd", "dma_gather" if gathers else "dma_scatter", fields, reads,
                                                     writes, place, self.operands.core))
        if not gathers and array.role == "in":
            array.role = "inout"

    def _by_scalar(self, dst: NkiTensor, src: NkiTensor, out_of_bounds: Any) -> None:
        """Sync reads the index into a register, which the descriptor generators add to an address in HBM."""
        place = self.operands.place
        place = self.operands.place
        dynamic = [view for view in (dst, src) if view.indirection is not None]
        if any(view.indirection.kind != "scalar" for view in dynamic):
            raise KernelError("a copy by DMA takes a scalar index or rows by index", "8.2", place)
        if dst.dtype.itemsize != src.dtype.itemsize or dst.dtype.code != src.dtype.code:
            self._convert(dst, src)
            return
        self._require_generators("a copy whose address comes from the device")
        size = src.dtype.itemsize
        registers = {id(view): self.operands.index(view.indirection.index).held("sync") for view in dynamic}
        made = pieces(self.operands.pattern(src), self.operands.pattern(dst), size, self._generated, place)
        for part in made:
            part.skips = out_of_bounds is oob_mode.skip
            for view, end in ((src, part.source), (dst, part.destination)):
                if view.indirection is not None:
                    self._make_dynamic(end, view, registers[id(view)], part.size)
        self._generated += 1
        self.program.instructions.append(Copy("sync", made, place, self.operands.core))

    def _make_dynamic(self, end: Corner, view: NkiTensor, register: Held, piece: int) -> None:
        index, size = view.indirection, view.dtype.itemsize
        end.register, end.unit = register, index.stride * size
        if isinstance(end.of, Buffer):
            if index.stride % view.pitch == 0 and view.pitch > 1:  # along the partitions
                end.unit = index.stride // view.pitch * self.program.generation.sbuf_bytes
            return
        span = end.of.size - end.offset
        if index.limit:
            reach = sum(max(0, (count - 1) * stride) for count, stride, _ in end.dims) + piece
            span = min(span, (index.limit - 1) * end.unit + reach)
        end.limit = span

    def _require_generators(self, what: str) -> None:
        if self.program.generation.number == 2:
            raise KernelError(f"Trainium1 has no descriptor generators for {what}", "13", self.operands.place)

    def dma_compute(self, arguments: dict[str, Any]) -> None:
        """The sum of the sources, computed by Vector in the order and with the rounding of the DMA engines: transfers of
        program sets are plain copies."""
        dst, sources = arguments["dst"], arguments["srcs"]
        place = self.operands.place
        if arguments["reduce_op"] is not operators.add or any(v.indirection is not None for v in (dst, *sources)):
            raise KernelError("dma_compute is compiled for sums without indices", "14", place)
        if dst.shape[0] > PARTITIONS:
            raise KernelError(f"dma_compute is compiled for up to {PARTITIONS} rows", "14", place)
        total = self.operands.temporary(dst, data_types.float32)
        for number, source in enumerate(sources):
            tile = self._on_chip(source)
            if number == 0:
                self._append_copy(total, tile)
                continue
            self.program.instructions.append(Instruction(
                "vector", "tensor_tensor", [("op0", "add"), ("dst", total), ("a", total), ("b", tile)], [total, tile],
                [total], place, self.operands.core))
        if dst.is_on_chip:
            self._append_copy(self.operands.tile(dst), total)
            return
        result = self.operands.temporary(dst, dst.dtype)
        self._append_copy(result, total)
        self.copy(self._whole(result), self.operands.pattern(dst), dst.dtype.itemsize)

    def _on_chip(self, view: NkiTensor) -> Tile:
        """The view's elements in a tile: its own, or a copy."""
        if view.is_on_chip:
            return self.operands.tile(view)
        made = self.operands.temporary(view, view.dtype)
        self.copy(self.operands.pattern(view), self._whole(made), view.dtype.itemsize)
        return made

    @staticmethod
    def _whole(tile: Tile) -> Pattern:
        return Pattern(tile.buffer, 0, ((tile.elements, tile.dtype.itemsize), (tile.partitions, PARTITION)))

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
        if self.operands.loop is not None:
            # The descriptors of a ring serve once.
            self._require_generators("a copy in a loop of the device")
            made = pieces(source, destination, size, self._generated, place)
            self._generated += 1
            self.program.instructions.append(Copy("sync", made, place, self.operands.core))
            return
        if size == 2 and self.program.generation.number > 2:
            matrices = transposes(source, destination, 4 * self._generated, place)
            if matrices is not None:
                self._generated += 1
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
            made = self.operands.temporary(src, dst.dtype)
            self._append_copy(made, self.operands.tile(src))
            self.copy(self._whole(made), self.operands.pattern(dst), dst.dtype.itemsize)
        elif dst.is_on_chip:
            made = self.operands.temporary(dst, src.dtype)
            self.copy(self.operands.pattern(src), self._whole(made), src.dtype.itemsize)
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
