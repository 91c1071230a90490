# SPDX-License-Identifier: Apache-2.0
"""Rows of a table in HBM by an index tile: gathers and scatters of GPSIMD (doc/spec/neuron-core.md, 8.2)."""
from __future__ import annotations

import dataclasses
import math
from trn_nki.compile.copies import PARTITION, Pattern, lines
from trn_nki.compile.operands import Operands
from trn_nki.compile.program import Array, Buffer, Field, Number, Operand, Register, Tile
from trn_nki.compile.transfers import Mover
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors import layout
from trn_nki.tensors.tensor import NkiTensor, has_kind, indirection_of
from trn_nki.values import data_types
from trn_nki.values.engines import oob_mode

MAX_EXACT_GATHERS, MAX_GATHERS = 4, 64  # per copy: limit of exact ones, and of all


class Rows:
    """Appends gathers and scatters. `moves` copies what is not in a tile of the table's type."""

    def __init__(self, operands: Operands, moves: Mover):
        self.operands, self.moves = operands, moves

    def copy(self, dst: NkiTensor, src: NkiTensor, out_of_bounds: oob_mode) -> None:
        gathers = has_kind(src, "vector")
        table, other = (src, dst) if gathers else (dst, src)
        skips = out_of_bounds is oob_mode.skip
        rows, count = table.shape[0], table.free_size
        direct = (
            other.is_on_chip
            and other.indirection is None
            and data_types.keep_bits(other.dtype, table.dtype)
            and other.shape[0] == rows
            and self.operands.is_legal(other)
        )
        if direct:
            self._move(self.operands.tile(other), table, gathers, skips)
            return
        made = self.operands.made(rows, count, table.dtype, "rows of " + table.name)
        if gathers:
            if skips:  # rows that are skipped keep what they held
                self.moves.to_tile(made, other)
            self._move(made, table, True, skips)
            self.moves.from_tile(other, made)
        else:
            self.moves.to_tile(made, other)
            self._move(made, table, False, skips)

    def _move(self, tile: Tile, table: NkiTensor, gathers: bool, skips: bool) -> None:
        """Moves rows that are not contiguous, or whose pitch differs from their length, in parts: through a table of shorter
        rows, several per row of the kernel's table."""
        index, place = indirection_of(table), self.operands.place
        array = self.operands.array(table.storage)
        runs = layout.merged(table.strides[1:], table.shape[1:])
        length = runs[-1][1] if runs[-1][0] == 1 else 1
        outer = runs[:-1] if runs[-1][0] == 1 else runs
        unit = math.gcd(index.stride, length)
        if index.stride == 0:
            raise KernelError("the rows of a table have a pitch", "8.2", place)
        starts = [0]
        for stride, count in (*outer, (unit, length // unit)):
            starts = [start + number * stride for start in starts for number in range(count)]
        if len(starts) > MAX_EXACT_GATHERS and gathers and not skips and self._move_all(tile, table, max(starts) + unit):
            return
        if len(starts) > MAX_GATHERS:
            raise KernelError(f"{len(starts)} parts of each row are not contiguous, at most {MAX_GATHERS} can be moved", "8.2", place)
        per_row = index.stride // unit
        indices = self._scaled(self.operands.tile(index.tile), per_row)
        whole = tile
        if len(starts) > 1 and tile.merged() != ((tile.elements, 1),):
            whole = self.operands.made(tile.partitions, tile.elements, tile.dtype, "rows")
            if not gathers:
                self.moves.append_copy(whole, tile)
        self._parts(whole, array, table, starts, unit, indices, per_row, gathers, skips)
        if whole is not tile and gathers:
            self.moves.append_copy(tile, whole)

    def _move_all(self, tile: Tile, table: NkiTensor, end: int) -> bool:
        """Gathers whole rows of the table and copies the tile's part of them; False if the table's last row is
        shorter."""
        index, size = indirection_of(table), table.dtype.itemsize
        begin = table.offset % index.stride
        first = table.offset - begin
        if begin + end > index.stride or (first + index.limit * index.stride) * size > table.storage.size_bytes:
            return False
        row = table._derive((table.shape[0], index.stride), (index.stride, 1), first)
        made = self.operands.made(tile.partitions, index.stride, tile.dtype, "rows of " + table.name)
        self._move(made, row, True, False)
        dims = tuple((count, stride) for stride, count in reversed(layout.merged(table.strides[1:], table.shape[1:])))
        self.moves.append_copy(tile, dataclasses.replace(made, dims=dims, offset=begin * size))
        return True

    def gathered(self, table: NkiTensor) -> Tile:
        """A new tile with the rows."""
        made = self.operands.made(table.shape[0], table.free_size, table.dtype, "rows of " + table.name)
        self._move(made, table, True, False)
        return made

    def strided(
        self, array: Pattern, tile: Pattern, size: int, reads: bool, register: Register | None = None, unit: int = 0, limit: int = 0
    ) -> None:
        """Copies between an array and a tile without descriptors of the host or of generators: rows whose indices GPSIMD
        computes. `register` times `unit` bytes is added to the address in the array; it must be below `limit`."""
        place, table, buffer = self.operands.place, array.base, tile.base
        assert isinstance(table, Array) and isinstance(buffer, Buffer)
        found = lines(array, tile, size, place)
        row = math.gcd(found.run, found.pitch, unit)
        if register is not None:
            # A factor of the register allows longer rows; a shift divides the register by it.
            longer = math.gcd(found.run, found.pitch, unit * register.factor)
            if unit % longer == 0 or (longer % unit == 0 and (longer // unit).bit_count() == 1):
                row = longer
        starts = [(a + n, b + n) for a, b in found.starts for n in range(0, found.run, row)]
        first = tile.offset // PARTITION
        if len(starts) > MAX_GATHERS or found.partitions > 128 or (buffer.first + first) % 32:
            raise KernelError(
                f"Trainium1 has no descriptor generators; as rows by index the copy takes {len(starts)} parts "
                f"from partition {first}, possible are {MAX_GATHERS} from a multiple of 32",
                "13",
                place,
            )
        kind = data_types.int32
        indices = self.operands.made(found.partitions, 1, kind, "rows")
        fields: list[Field] = [("pattern", f"(0, {found.pitch // row}) [1:0]"), ("dst", indices)]
        if register is not None:
            scaled = register
            if unit > row:
                scaled = self.operands.steps.step(Register(place), "reg_alu", register, unit // row, operator="mult")
            elif unit < row:
                shift = (row // unit).bit_length() - 1
                scaled = self.operands.steps.step(Register(place), "reg_alu", register, shift, operator="shift_right")
            fields += ["offset_register", ("imm", Number(scaled.held("gpsimd")))]
        self._append("iota", fields, [], [indices])
        highest = (
            (found.partitions - 1) * found.pitch // row + (limit - 1) * unit // row if limit else ((table.size - array.offset) // row - 1)
        )
        everything = table.access()
        for address, byte in starts:
            moved = Tile(buffer, data_types.uint8, found.partitions, ((row, 1),), first, byte)
            common: list[Field] = [("b", indices), ("s0", f"i32({highest + 1})"), ("table", f"@{table.name}+{address}"), ("imm", row)]
            if reads:
                self._append("dma_gather", [("dst", moved), *common], [indices, everything], [moved])
            else:
                self._append("dma_scatter", [("a", moved), *common], [indices, moved], [everything])
        if not reads:
            table.note_write()

    def _append(self, name: str, fields: list[Field], reads: list[Operand], writes: list[Operand]) -> None:
        self.operands.append("gpsimd", name, fields, reads, writes)

    def _parts(
        self,
        tile: Tile,
        array: Array,
        table: NkiTensor,
        starts: list[int],
        unit: int,
        indices: Tile,
        per_row: int,
        gathers: bool,
        skips: bool,
    ) -> None:
        size, limit = table.dtype.itemsize, indirection_of(table).limit
        everything = array.access()
        for number, start in enumerate(starts):
            moved = tile if len(starts) == 1 else dataclasses.replace(tile, dims=((unit, 1),), offset=tile.offset + number * unit * size)
            # GPSIMD does not have all types.
            moved = dataclasses.replace(moved, dtype=data_types.OF_BITS.get(size, moved.dtype))
            fields: list[Field] = [
                ("imm", unit * size),
                ("dst" if gathers else "a", moved),
                ("b", indices),
                ("s0", f"i32({limit * per_row})"),
                ("table", f"@{array.name}+{(table.offset + start) * size}"),
                *(["oob_skip"] if skips else []),
            ]
            if gathers:
                self._append("dma_gather", fields, [indices, everything, *([moved] if skips else [])], [moved])
            else:
                self._append("dma_scatter", fields, [indices, moved], [everything])
        if not gathers:
            array.note_write()

    def _scaled(self, indices: Tile, factor: int) -> Tile:
        """The indices times a number, exactly: GPSIMD multiplies integers."""
        if factor == 1:
            return indices
        kind = data_types.int32
        factors = self.operands.made(indices.partitions, indices.elements, kind, "factors")
        scaled = self.operands.made(indices.partitions, indices.elements, kind, "indices")
        source = dataclasses.replace(indices, dtype=kind)
        self._append("memset", [("imm", str(factor)), ("dst", factors)], [], [factors])
        self._append("tensor_tensor", [("op0", "mult"), ("dst", scaled), ("a", source), ("b", factors)], [source, factors], [scaled])
        return scaled
