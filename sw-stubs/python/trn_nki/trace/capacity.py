# SPDX-License-Identifier: Apache-2.0
"""Tiles that do not fit into SBUF or PSUM together (doc/spec/neuron-core.md, 15.3 item 5).

A tile lives from the first to the last instruction that uses it. The compiler may need more than the sum of the living
tiles, for copies of its own and for gaps, and refuses what it cannot place.
"""
from __future__ import annotations

import heapq
from typing import Any

from trn_nki.diagnostics.errors import KernelError
from trn_nki.trace.instructions import Instruction
from trn_nki.values.generations import PSUM_BANK_BYTES, PSUM_BYTES
from trn_nki.values.memory_regions import MemoryRegion, psum, sbuf

MAX_NAMED = 3  # tiles of a message


def check_capacity(recording: Any) -> None:
    """Raises KernelError for the first tile that does not fit, at its allocation."""
    limits = {sbuf: recording.generation.usable_sbuf_bytes, psum: PSUM_BYTES}
    for core in recording.cores:
        lives = _Lives()
        lives.visit(core.body)
        for region, limit in limits.items():
            _check(lives.of(region), limit)


class _Lives:
    """The numbers of the first and last instruction of each tile."""

    def __init__(self) -> None:
        self._number = 0
        self._found: dict[Any, list[int]] = {}

    def of(self, region: MemoryRegion) -> list[tuple[int, int, Any]]:
        lives = [(first, last, storage) for storage, (first, last) in self._found.items() if storage.region is region]
        return sorted(lives, key=lambda life: life[0])

    def visit(self, body: list[Any]) -> tuple[set[Any], set[Any]]:
        """The tiles that a body uses, and its loops. A tile from outside of a loop lives throughout the loop."""
        used: set[Any] = set()
        loops: set[Any] = set()
        for item in body:
            if isinstance(item, Instruction):
                self._number += 1
                if item.operation != "core_barrier":
                    for view in item.reads + item.writes:
                        if view.is_on_chip:
                            used.add(view.storage)
                            self._found.setdefault(view.storage, [self._number, 0])[1] = self._number
                continue
            before = self._number + 1
            inside, inner = self.visit(item.body)
            inner.add(item)
            for storage in inside:
                if storage.loop not in inner:
                    life = self._found[storage]
                    life[:] = [min(before, life[0]), max(self._number, life[1])]
            used |= inside
            loops |= inner
        return used, loops


def _check(lives: list[tuple[int, int, Any]], limit: int) -> None:
    free: list[tuple[int, int, int, Any]] = []   # last instruction, order, bytes and tile; the compiler places them
    fixed: list[tuple[int, Any]] = []            # last instruction and tile, at an address
    total = 0
    for order, (first, last, storage) in enumerate(lives):
        while free and free[0][0] < first:
            total -= heapq.heappop(free)[2]
        fixed = [life for life in fixed if life[0] >= first]
        size = _extent(storage)
        if storage.address is not None:
            fixed.append((last, storage))
            size = 0
        taken = _union(fixed) if fixed else 0
        if total + taken + size > limit:
            raise _refusal(storage, total + taken, limit, [life[3] for life in free] + [life[1] for life in fixed[:-1]])
        if storage.address is None:
            heapq.heappush(free, (last, order, size, storage))
            total += size


def _extent(storage: Any) -> int:
    """Bytes of a partition that a tile occupies; in PSUM whole banks, because each bank has one open sum."""
    size = storage.bytes_per_partition
    return -(-size // PSUM_BANK_BYTES) * PSUM_BANK_BYTES if storage.region is psum and storage.address is None else size


def _union(fixed: list[tuple[int, Any]]) -> int:
    total = end = 0
    for first, last in sorted((storage.address[1], storage.address[1] + storage.bytes_per_partition) for _, storage in fixed):
        total += max(0, last - max(first, end))
        end = max(end, last)
    return total


def _refusal(storage: Any, used: int, limit: int, others: list[Any]) -> KernelError:
    size = _extent(storage)
    largest = sorted(others, key=lambda other: -_extent(other))[:MAX_NAMED]
    named = ", ".join(f"{other!r} ({other.place.short})" for other in largest)
    more = f" and {len(others) - len(largest)} more" if len(others) > len(largest) else ""
    return KernelError(f"{storage!r} needs {size} bytes of each partition of {storage.region.value.upper()}: {used} of {limit} are "
                       f"in use here, by {named}{more}, so {used + size - limit} are missing", "15.3", storage.place)
