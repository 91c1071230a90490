# SPDX-License-Identifier: Apache-2.0
"""Warnings about sums in PSUM: products that nothing reads, and sums that begin with what the bank held."""
from __future__ import annotations

from trn_nki.diagnostics.errors import warn
from trn_nki.diagnostics.places import Place
from trn_nki.tensors.storage import Storage
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.accumulation import Rectangle, covers, overlap, rectangle
from trn_nki.trace.instructions import Instruction, Item, Loop, WhileLoop
from trn_nki.trace.recording import Recording
from trn_nki.values.memory_regions import psum

_PRODUCTS = ("nc_matmul", "nc_matmul_mx", "nc_transpose")
_ADVICE = "; products of one sum go to one tile, allocated before the loop, with accumulate=None, or with True after the first"


def warn_products(recording: Recording) -> None:
    for core in recording.cores:
        sums = _Sums(recording.generation.number)
        sums.visit(core.body, None)
        sums.report()


class _Sums:
    """Tiles in PSUM without an address: those with one may share their bytes."""

    def __init__(self, generation: int):
        self._generation = generation
        self._begun: dict[Storage, list[Rectangle]] = {}  # that a product wrote
        self._unread: dict[Storage, dict[Rectangle, Instruction]] = {}
        self._made: dict[Place, int] = {}
        self._lost: dict[Place, list[Instruction]] = {}
        self._stale: dict[Place, Instruction] = {}

    def visit(self, body: list[Item], loop: Loop | WhileLoop | None) -> None:
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
            for other in [other for other in unread if view.indirection is not None or overlap(mine, other)]:
                del unread[other]

    def _write(self, product: Instruction, view: NkiTensor, loop: Loop | WhileLoop | None) -> None:
        mine = rectangle(view)
        unread = self._unread.setdefault(view.storage, {})
        begun = self._begun.setdefault(view.storage, [])
        is_fixed = view.indirection is None
        is_dense = is_fixed and view.free_size * view.dtype.itemsize == mine[3] - mine[2] + 1
        for other in [other for other in unread if is_dense and covers(mine, other)]:
            if not product.arguments.get("accumulate") and view.storage.loop is loop:
                self._lost.setdefault(unread[other].place, []).append(unread[other])
            del unread[other]
        if product.operation not in _PRODUCTS:
            return
        if product.arguments.get("accumulate") and is_fixed and not any(overlap(mine, other) for other in begun):
            self._stale.setdefault(product.place, product)
        storage = view.storage  # a product at a place from the device may begin any sum of the tile
        sum_of = mine if is_fixed else (0, storage.partitions - 1, 0, storage.bytes_per_partition - 1)
        if sum_of not in begun:
            begun.append(sum_of)
        self._made[product.place] = self._made.get(product.place, 0) + 1
        if is_fixed and view.storage.loop is loop:  # another pass may read what this one wrote
            unread[mine] = product

    def report(self) -> None:
        for unread in self._unread.values():
            for product in unread.values():
                self._lost.setdefault(product.place, []).append(product)
        for place, lost in self._lost.items():
            product = lost[0]
            advice = "" if product.operation == "nc_transpose" or product.arguments.get("is_transpose") else _ADVICE
            warn(
                f"nisa.{product.operation}: nothing reads {len(lost)} of the {self._made[place]} results of this line, such as "
                f"{product.writes[0]!r}{advice}",
                "15.3",
                place,
            )
        for place, product in self._stale.items() if self._generation < 4 else ():
            warn(
                f"nisa.{product.operation} accumulates in {product.writes[0]!r}, where no product was written before: undefined on "
                f"NeuronCore-v{self._generation} (TRN-NC-004); accumulate=None lets the first product overwrite",
                "4.1",
                place,
            )
