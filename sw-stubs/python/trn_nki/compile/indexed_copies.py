# SPDX-License-Identifier: Apache-2.0
"""Copies whose addresses are known only on the device: a scalar index of a view is added by descriptor generators, or on
Trainium1 by GPSIMD."""
from __future__ import annotations

from typing import TypeGuard

from trn_nki.compile.copies import Pattern, pieces
from trn_nki.compile.operands import Operands
from trn_nki.compile.program import Buffer, Corner, Held
from trn_nki.compile.rows import Rows
from trn_nki.compile.transfers import Mover, Pair, Side, directed, whole
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor, indirection_of
from trn_nki.values.generations import PARTITIONS


class IndexedCopies:
    """Appends indexed copies. `moves` handles copies without an index."""

    def __init__(self, operands: Operands, rows: Rows, moves: Mover):
        self.operands, self.rows, self.moves = operands, rows, moves

    def copy(self, sides: Pair[Side], skips: bool) -> None:
        """At least one side is a view with a scalar index."""
        if not self.moves.has_generators:
            self._start_by_rows(sides)
            return
        dynamic = [side for side in sides if _is_dynamic(side)]
        view = dynamic[0]
        if len(dynamic) == 2:
            # A generated copy has one limit only, so each side is copied from or to a tile and
            # checked separately.
            between = whole(self.operands.temporary(view, view.dtype))
            self.copy(Pair(sides.source, between), False)
            self.copy(Pair(between, sides.destination), False)
            return
        steps = self.operands.steps
        register = (steps.index_or_far(view) if skips else steps.index(indirection_of(view).index)).held("sync")
        made = pieces(
            self._pattern(sides.source), self._pattern(sides.destination), view.dtype.itemsize, self.moves.generated, self.operands.place
        )
        for part in made:
            part.skips = skips
            self._make_dynamic(part.source if view is sides.source else part.destination, view, register, part.size)
        self.moves.generate(made)

    def _pattern(self, side: Side) -> Pattern:
        return side if isinstance(side, Pattern) else self.operands.pattern(side)

    def _make_dynamic(self, end: Corner, view: NkiTensor, register: Held, piece: int) -> None:
        index, size = indirection_of(view), view.dtype.itemsize
        end.register, end.unit = register, index.stride * size
        partition = self.operands.program.generation.sbuf_bytes
        if index.over_partitions:
            end.unit = index.stride // view.pitch * partition
        reach = sum(max(0, (count - 1) * stride * (partition if over else 1)) for count, stride, over in end.dims) + piece
        end.limit = max(0, view.max_index()) * end.unit + reach

    def _start_by_rows(self, sides: Pair[Side]) -> None:
        """As copy(), on Trainium1: a side with an index is copied through a tile, unless the other side is a tile."""
        source, destination = sides
        for view, other, reads in ((source, destination, True), (destination, source, False)):
            if not _is_dynamic(view) or _is_dynamic(other):
                continue
            plain = self._pattern(other)
            is_reached = (
                self.operands.steps.loop is not None or isinstance(other, Pattern) or (other.is_on_chip and self.operands.is_legal(other))
            )
            if not view.is_on_chip and isinstance(plain.base, Buffer) and is_reached:
                self._index_by_rows(view, plain, reads)
                return
        view = next(side for side in (destination, source) if _is_dynamic(side))
        if view.shape[0] > PARTITIONS:
            raise KernelError(
                f"Trainium1 copies {PARTITIONS} rows at once by a scalar index, not {view.shape[0]}", "13", self.operands.place
            )
        between = self.operands.temporary(view, view.dtype)
        for side, reads in ((source, True), (destination, False)):
            if not _is_dynamic(side):
                self.moves.copy(directed(self._pattern(side), whole(between), reads), view.dtype.itemsize)
            elif side.is_on_chip:
                copied = directed(self.operands.tile(side, "the tile", "vector"), between, reads)
                self.moves.append_copy(copied.destination, copied.source)
            else:
                self._index_by_rows(side, whole(between), reads)

    def _index_by_rows(self, view: NkiTensor, tile: Pattern, reads: bool) -> None:
        index, size = indirection_of(view), view.dtype.itemsize
        self.rows.strided(
            self.operands.pattern(view),
            tile,
            size,
            reads,
            self.operands.steps.index(index.index),
            index.stride * size,
            view.max_index() + 1,
        )


def _is_dynamic(side: Side) -> TypeGuard[NkiTensor]:
    return isinstance(side, NkiTensor) and side.indirection is not None
