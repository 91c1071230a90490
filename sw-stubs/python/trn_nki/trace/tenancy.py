# SPDX-License-Identifier: Apache-2.0
"""Tiles at addresses that the kernel chose: tracks the owner of their bytes."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from trn_nki.diagnostics.errors import KernelError
from trn_nki.diagnostics.places import shown
from trn_nki.tensors.storage import Storage
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.instructions import Instruction
from trn_nki.values.generations import PSUM_BYTES, Generation
from trn_nki.values.memory_regions import MemoryRegion, psum

if TYPE_CHECKING:
    import numpy.typing as npt

QUADRANT = 32  # partitions; addresses of tiles start at multiples of it


class Tenancy:
    """Tracks the tile that last wrote each byte of each quadrant; refuses reads of a tile that was overwritten."""

    def __init__(self, generation: Generation):
        self._generation = generation
        self._owner: dict[MemoryRegion, npt.NDArray[numpy.int32]] = {}  # 1 + number of the tile; 0: not written
        self._tiles: list[Storage] = []
        self._number: dict[Storage, int] = {}

    def add(self, storage: Storage) -> None:
        """Adds a tile with an address; later tiles may reuse its bytes."""
        self._tiles.append(storage)
        self._number[storage] = len(self._tiles)

    def note(self, instruction: Instruction) -> None:
        """Raises KernelError when the instruction reads a tile whose bytes another tile has overwritten."""
        if not self._tiles:
            return
        for view in instruction.reads:
            number = self._number.get(view.storage)
            if number is not None:
                latest = int(self._bytes(view).max())
                if latest > number:
                    other = self._tiles[latest - 1]
                    raise KernelError(
                        f"{view!r} is used after its memory went to {other!r} ({shown(other.place.file)}:{other.place.line})", "15.3"
                    )
        for view in instruction.writes:
            number = self._number.get(view.storage)
            if number is not None:
                self._bytes(view)[...] = number

    def _bytes(self, view: NkiTensor) -> npt.NDArray[numpy.int32]:
        """The owners of the bytes from the view's first to its last, in all its quadrants."""
        region, storage = view.buffer, view.storage
        if region not in self._owner:
            size = PSUM_BYTES if region is psum else self._generation.sbuf_bytes
            self._owner[region] = numpy.zeros((128 // QUADRANT, size), numpy.int32)
        assert storage.address is not None
        partition = storage.address[0] + view.partition
        size, low, high = view.dtype.itemsize, view.element, view.element + 1
        for stride, count in zip(view.strides[1:], view.shape[1:]):
            low, high = (low + stride * (count - 1), high) if stride < 0 else (low, high + stride * (count - 1))
        first, last = storage.address[1] + low * size, storage.address[1] + high * size
        return self._owner[region][partition // QUADRANT : (partition + view.shape[0] - 1) // QUADRANT + 1, first:last]
