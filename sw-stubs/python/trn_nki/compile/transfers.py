# SPDX-License-Identifier: Apache-2.0
"""The sides of a copy, and what the classes that lower copies use of each other."""
from __future__ import annotations

from typing import Generic, NamedTuple, Protocol, TypeVar

from trn_nki.compile.copies import PARTITION, Pattern
from trn_nki.compile.program import Generated, Tile
from trn_nki.tensors.tensor import NkiTensor

Side = NkiTensor | Pattern  # a view of the kernel, perhaps with a scalar index, or elements of an array or a tile
S = TypeVar("S")


class Pair(NamedTuple, Generic[S]):
    """The sides of a copy."""

    source: S
    destination: S


def directed(outside: S, tile: S, reads: bool) -> Pair[S]:
    """A copy to a tile if it reads, else from the tile."""
    return Pair(outside, tile) if reads else Pair(tile, outside)


def whole(tile: Tile) -> Pattern:
    """All elements of a tile that fills its buffer, in order."""
    return Pattern(tile.buffer, 0, ((tile.elements, tile.dtype.itemsize), (tile.partitions, PARTITION)))


class Mover(Protocol):
    """Appends the copies that need no index tile and no scalar index: moves.Moves."""

    generated: int  # number of copies with generated descriptors so far

    @property
    def has_generators(self) -> bool:
        """Whether the generation has descriptor generators."""

    def generate(self, parts: list[Generated]) -> None:
        """Appends a copy by descriptor generators."""

    def copy(self, sides: Pair[Pattern], size: int) -> None:
        """Copies elements of `size` bytes."""

    def append_copy(self, dst: Tile, src: Tile) -> None:
        """dst = src on Vector, with its conversion."""

    def from_tile(self, dst: NkiTensor, tile: Tile) -> None:
        """dst = a tile with the elements in order, of any type."""

    def to_tile(self, tile: Tile, src: NkiTensor) -> None:
        """The tile's elements in order = those of src."""
