# SPDX-License-Identifier: Apache-2.0
"""Warnings about sums in PSUM: products that nothing reads, and sums that begin with what the bank held."""
from __future__ import annotations

from typing import Any

from trn_nki.diagnostics.errors import warn
from trn_nki.diagnostics.places import Place
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.accumulation import covers, overlap, rectangle
from trn_nki.trace.instructions import Instruction
from trn_nki.values.memory_regions import psum

_PRODUCTS = ("nc_matmul", "nc_matmul_mx", "nc_transpose")
_Rectangle = tuple[int, int, int, int]
_ADVICE = "; products of one sum go to one tile, allocated before the loop, with accumulate=None, or with True after the " "first"


def warn_products(recording: Any) -> None:
    for core in recording.cores:
        sums = _Sums(recording.generation.number)
        sums.visit(core.body, None)
        sums.report()


class _Sums:
    """Tiles in PSUM without an address: those with one may share their bytes."""

    def __init__(self, generation: int):
        self._generation = generation
        self._begun: dict[Any, list[_Rectangle]] = {}  # that a product wrote
        self._unread: dict[Any, dict[_Rectangle, Instruction]] = {}
        self._made: dict[Place, int] = {}
        self._lost: dict[Place, list[Instruction]] = {}
        self._stale: dict[Place, Instruction] = {}

    def visit(self, body: list[Any], loop: Any) -> None:
        for item in body:
            if not isinstance(item, Instruction):
                self.visit(item.body, item)
                continue
            for view in item.reads:
                accumulates = item.operation in _PRODUCTS and any(view is written for written in item.writes)
                if view.buffer is psum and not accumulates:
                    self._read(view)
            for view in item.writes:
                if view.buffer is psum and view.storage.address is None:
                    self._write(item, view, loop)

    def _read(self, view: NkiTensor) -> None:
        unread = self._unread.get(view.storage)
        if unread:
            mine = rectangle(view)
            for other in [one for one in unread if view.indirection is not None or overlap(mine, one)]:
                del unread[other]

    def _write(self, one: Instruction, view: NkiTensor, loop: Any) -> None:
        mine = rectangle(view)
        unread = self._unread.setdefault(view.storage, {})
        begun = self._begun.setdefault(view.storage, [])
        is_fixed = view.indirection is None
        is_dense = is_fixed and view.free_size * view.dtype.itemsize == mine[3] - mine[2] + 1
        for other in [other for other in unread if is_dense and covers(mine, other)]:
            if not one.arguments.get("accumulate") and view.storage.loop is loop:
                self._lost.setdefault(unread[other].place, []).append(unread[other])
            del unread[other]
        if one.operation not in _PRODUCTS:
            return
        if one.arguments.get("accumulate") and is_fixed and not any(overlap(mine, other) for other in begun):
            self._stale.setdefault(one.place, one)
        storage = view.storage  # a product at a place from the device may begin any sum of the tile
        sum_of = mine if is_fixed else (0, storage.partitions - 1, 0, storage.bytes_per_partition - 1)
        if sum_of not in begun:
            begun.append(sum_of)
        self._made[one.place] = self._made.get(one.place, 0) + 1
        if is_fixed and view.storage.loop is loop:  # another pass may read what this one wrote
            unread[mine] = one

    def report(self) -> None:
        for unread in self._unread.values():
            for one in unread.values():
                self._lost.setdefault(one.place, []).append(one)
        for place, lost in self._lost.items():
            one = lost[0]
            advice = "" if one.operation == "nc_transpose" or one.arguments.get("is_transpose") else _ADVICE
            warn(
                f"nisa.{one.operation}: nothing reads {len(lost)} of the {self._made[place]} results of this line, such as "
                f"{one.writes[0]!r}{advice}",
                "15.3",
                place,
            )
        for place, one in self._stale.items() if self._generation < 4 else ():
            warn(
                f"nisa.{one.operation} accumulates in {one.writes[0]!r}, where no product was written before: undefined on "
                f"NeuronCore-v{self._generation} (TRN-NC-004); accumulate=None lets the first product overwrite",
                "4.1",
                place,
            )
