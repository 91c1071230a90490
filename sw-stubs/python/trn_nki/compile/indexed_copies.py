# SPDX-License-Identifier: Apache-2.0
"""Copies whose addresses are known only on the device: a scalar index of a view is added by descriptor generators, or on
Trainium1 by GPSIMD."""
from __future__ import annotations

from typing import Any

from trn_nki.compile.copies import Pattern, pieces
from trn_nki.compile.operands import Operands
from trn_nki.compile.program import Buffer, Corner, Held, Program
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values.generations import PARTITIONS


class IndexedCopies:
    """Appends indexed copies. `moves` handles copies without an index."""

    def __init__(self, program: Program, operands: Operands, moves: Any):
        self.program, self.operands, self.moves = program, operands, moves

    def copy(self, dynamic: dict[int, NkiTensor], src: Any, dst: Any, skips: bool) -> None:
        """src and dst are views, or patterns of tiles; `dynamic` holds the views with an index, by id()."""
        place = self.operands.place
        if not self.moves.has_generators:
            self._start_by_rows(dynamic, src, dst)
            return
        if len(dynamic) == 2:
            # A generated copy has one limit only, so each side is copied from or to a tile and
            # checked separately.
            between = self.moves.whole(self.operands.temporary(src, src.dtype))
            self.copy({id(src): src}, src, between, False)
            self.copy({id(dst): dst}, between, dst, False)
            return
        steps = self.operands.steps
        registers = {
            key: (steps.index_or_far(view) if skips else steps.index(view.indirection.index)).held("sync") for key, view in dynamic.items()
        }
        size = next(iter(dynamic.values())).dtype.itemsize
        sides = [side if isinstance(side, Pattern) else self.operands.pattern(side) for side in (src, dst)]
        made = pieces(*sides, size, self.moves.generated, place)
        for part in made:
            part.skips = skips
            for view, end in ((src, part.source), (dst, part.destination)):
                if id(view) in dynamic:
                    self._make_dynamic(end, view, registers[id(view)], part.size)
        self.moves.generate(made)

    def _make_dynamic(self, end: Corner, view: NkiTensor, register: Held, piece: int) -> None:
        index, size = view.indirection, view.dtype.itemsize
        end.register, end.unit = register, index.stride * size
        partition = self.program.generation.sbuf_bytes
        if index.over_partitions:
            end.unit = index.stride // view.pitch * partition
        reach = sum(max(0, (count - 1) * stride * (partition if over else 1)) for count, stride, over in end.dims) + piece
        end.limit = max(0, view.max_index()) * end.unit + reach

    def _start_by_rows(self, dynamic: dict[int, NkiTensor], src: Any, dst: Any) -> None:
        """As copy(), on Trainium1: a side with an index is copied through a tile, unless the other side is a tile."""
        for view, other, reads in ((src, dst, True), (dst, src, False)):
            if id(view) not in dynamic or id(other) in dynamic:
                continue
            plain = other if isinstance(other, Pattern) else self.operands.pattern(other)
            is_reached = (
                self.operands.steps.loop is not None or isinstance(other, Pattern) or (other.is_on_chip and self.operands.is_legal(other))
            )
            if not view.is_on_chip and isinstance(plain.of, Buffer) and is_reached:
                self._index_by_rows(view, plain, reads)
                return
        view = next(iter(dynamic.values()))
        if view.shape[0] > PARTITIONS:
            raise KernelError(
                f"Trainium1 copies {PARTITIONS} rows at once by a scalar index, not {view.shape[0]}", "13", self.operands.place
            )
        between = self.operands.temporary(view, view.dtype)
        for side, reads in ((src, True), (dst, False)):
            whole = self.moves.whole(between)
            if id(side) not in dynamic:
                plain = side if isinstance(side, Pattern) else self.operands.pattern(side)
                self.moves.copy(*((plain, whole) if reads else (whole, plain)), view.dtype.itemsize)
            elif side.is_on_chip:
                tile = self.operands.tile(side, "the tile", "vector")
                self.moves.append_copy(*((between, tile) if reads else (tile, between)))
            else:
                self._index_by_rows(side, whole, reads)

    def _index_by_rows(self, view: NkiTensor, tile: Pattern, reads: bool) -> None:
        index, size = view.indirection, view.dtype.itemsize
        self.moves.rows.strided(
            self.operands.pattern(view),
            tile,
            size,
            reads,
            self.operands.steps.index(index.index),
            index.stride * size,
            view.max_index() + 1,
        )


__all__ = ["IndexedCopies"]
