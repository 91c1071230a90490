# SPDX-License-Identifier: Apache-2.0
"""Tiles that do not fit into SBUF or PSUM together (doc/spec/neuron-core.md, 15.3 item 5).

A tile lives from the first to the last instruction that uses it. The compiler may need more than the sum of the living
tiles, for copies of its own and for gaps, and refuses what it cannot place.
"""
from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.storage import Storage
from trn_nki.trace.instructions import Instruction, Item, Loop, WhileLoop
from trn_nki.trace.recording import Recording
from trn_nki.values.generations import PSUM_BYTES, placed_bytes
from trn_nki.values.lifetimes import extend_through_loops
from trn_nki.values.memory_regions import MemoryRegion, psum, sbuf

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_NAMED = 3  # tiles of a message


def check_capacity(recording: Recording) -> None:
    """Raises KernelError for the first tile that does not fit, at its allocation."""
    limits = {sbuf: recording.generation.usable_sbuf_bytes, psum: PSUM_BYTES}
    for core in recording.cores:
        lives = _Lives(core.body)
        for region, limit in limits.items():
            _check(lives.in_region(region), limit)


class _Lives:
    """The numbers of the first and last instruction of each tile."""

    def __init__(self, body: list[Item]) -> None:
        self._number = 0
        self._found: dict[Storage, list[int]] = {}
        self._loops: list[tuple[Loop | WhileLoop, int, int]] = []
        self._parents: dict[object, Loop | WhileLoop | None] = {}
        self._visit(body, None)
        extend_through_loops(self._found, self._loops, self._is_inside)

    def in_region(self, region: MemoryRegion) -> list[tuple[int, int, Storage]]:
        lives = [(first, last, storage) for storage, (first, last) in self._found.items() if storage.region is region]
        return sorted(lives, key=lambda life: life[0])

    def _visit(self, body: list[Item], loop: Loop | WhileLoop | None) -> None:
        for item in body:
            if not isinstance(item, Instruction):
                before = self._number + 1
                self._parents[item] = loop
                self._visit(item.body, item)
                self._loops.append((item, before, self._number))
                continue
            self._number += 1
            for view in item.reads + item.writes if item.operation != "core_barrier" else ():
                if view.is_on_chip:
                    self._found.setdefault(view.storage, [self._number, 0])[1] = self._number

    def _is_inside(self, storage: Storage, loop: Loop | WhileLoop) -> bool:
        inner = storage.loop
        while inner is not None and inner is not loop:
            inner = self._parents.get(inner)
        return inner is loop


class _Occupied:
    """Bytes of a partition that tiles at addresses take; a byte that several tiles share counts once."""

    def __init__(self, limit: int):
        self._tiles = numpy.zeros(limit, numpy.uint32)  # of each byte
        self.bytes = 0

    def add(self, storage: Storage) -> None:
        part = self._part(storage)
        self.bytes += int(numpy.count_nonzero(part == 0))
        part += 1

    def remove(self, storage: Storage) -> None:
        part = self._part(storage)
        part -= 1
        self.bytes -= int(numpy.count_nonzero(part == 0))

    def _part(self, storage: Storage) -> npt.NDArray[numpy.uint32]:
        assert storage.address is not None
        first = storage.address[1]
        return self._tiles[first : first + storage.bytes_per_partition]


def _check(lives: list[tuple[int, int, Storage]], limit: int) -> None:
    living: list[tuple[int, int, Storage]] = []  # last instruction, order, tile
    placed = 0  # bytes of tiles that the compiler places
    fixed = _Occupied(limit)
    for order, (first, last, storage) in enumerate(lives):
        while living and living[0][0] < first:
            gone = heapq.heappop(living)[2]
            if gone.address is None:
                placed -= _extent(gone)
            else:
                fixed.remove(gone)
        used = placed + fixed.bytes
        if storage.address is None:
            placed += _extent(storage)
        else:
            fixed.add(storage)
        if placed + fixed.bytes > limit:
            raise _refusal(storage, used, placed + fixed.bytes - limit, limit, [life[2] for life in living])
        heapq.heappush(living, (last, order, storage))


def _extent(storage: Storage) -> int:
    return placed_bytes(storage.region.value, storage.bytes_per_partition) if storage.address is None else storage.bytes_per_partition


def _refusal(storage: Storage, used: int, missing: int, limit: int, others: list[Storage]) -> KernelError:
    largest = sorted(others, key=lambda other: -_extent(other))[:MAX_NAMED]
    named = ", ".join(f"{other!r} ({other.place.short})" for other in largest)
    more = f" and {len(others) - len(largest)} more" if len(others) > len(largest) else ""
    return KernelError(
        f"{storage!r} needs {_extent(storage)} bytes of each partition of {storage.region.value.upper()}: {used} of {limit} are "
        f"in use here, by {named}{more}, so {missing} are missing",
        "15.3",
        storage.place,
    )
