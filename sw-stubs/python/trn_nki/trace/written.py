# SPDX-License-Identifier: Apache-2.0
"""Results and tiles that the kernel does not write, and tensors that it writes in vain."""
from __future__ import annotations

from typing import Any

import numpy

from trn_nki.diagnostics.errors import KernelError, warn
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.instructions import Instruction, instructions_of


def check_results(recording: Any) -> None:
    """Raises KernelError with the first index of a result that no instruction writes.

    A write whose place a register or an index tile gives counts for the whole tensor.
    """
    results = [(number, tensor) for number, tensor in enumerate(recording.outputs) if tensor.storage.role == "output"]
    masks = {tensor.storage: numpy.zeros(tensor.storage.size_bytes, bool) for _, tensor in results}
    for core in recording.cores:
        for one in instructions_of(core.body):
            for view in one.writes:
                if view.storage in masks:
                    _elements(masks[view.storage], view)[...] = True
    for number, tensor in results:
        missing = _first_missing(masks[tensor.storage], tensor)
        if missing is not None:
            raise KernelError(f"result {number}, {tensor!r}, is not written at {missing}", "15.3", tensor.storage.place)


def check_tiles(recording: Any) -> None:
    """Raises KernelError for an instruction that reads a tile before anything has written to it, and for a copy to a result
    of elements that nothing has written.

    Tiles at addresses that the kernel chose may hold what another tile wrote there; those of a loop's body, what an
    earlier pass wrote.
    """
    for core in recording.cores:
        tiles = _Tiles()
        for one in instructions_of(core.body):
            for view in one.reads if one.operation != "core_barrier" else ():
                if view.is_on_chip and view.storage.address is None and view.storage.loop is None:
                    tiles.check(one, view)
            for view in one.writes:
                if view.is_on_chip:  # scales lie in other partitions than their view says (3.9)
                    tiles.note(view, one.operation == "quantize_mx")


def warn_lost(recording: Any) -> None:
    """Warns of tensors in HBM that are written, and neither read nor returned: a `return` was forgotten."""
    used = {tensor.storage for tensor in recording.outputs}
    written: dict[Any, None] = {}
    for core in recording.cores:
        for one in instructions_of(core.body):
            used.update(view.storage for view in one.reads)
            written |= {view.storage: None for view in one.writes if view.buffer.is_hbm and view.storage.role != "input"}
    for storage in written:
        if storage not in used:
            warn(f"the kernel writes {storage!r}, and neither reads nor returns it", "15.3", storage.place)


class _Tiles:
    """The bytes of tiles that were written."""

    def __init__(self) -> None:
        self._whole: set[Any] = set()
        self._masks: dict[Any, numpy.ndarray] = {}

    def note(self, view: NkiTensor, is_whole: bool) -> None:
        storage = view.storage
        if storage in self._whole:
            return
        is_whole |= view.free_size * view.dtype.itemsize == storage.bytes_per_partition and view.shape[0] == storage.partitions
        if is_whole or view.indirection is not None:  # a place that is not known counts for the whole tile
            self._whole.add(storage)
            return
        if storage not in self._masks:
            self._masks[storage] = numpy.zeros(storage.size_bytes, bool)
        _elements(self._masks[storage], view)[...] = True

    def check(self, one: Instruction, view: NkiTensor) -> None:
        storage = view.storage
        if storage in self._whole:
            return
        where = ""
        if storage in self._masks:  # written in part, which a copy to a result must not show
            is_shown = one.operation == "dma_copy" and one.writes[0].storage.role == "output" and view.indirection is None
            missing = _first_missing(self._masks[storage], view) if is_shown else None
            if missing is None:
                return
            where = f" at {missing}"
        verb = "accumulates in" if any(view is written for written in one.writes) else "reads"
        result = next((f", for result {written!r}" for written in one.writes if written.storage.role == "output"), "")
        raise KernelError(
            f"nisa.{one.operation} {verb} {view!r}, to which nothing has written{where} "
            f"({storage.place.file}:{storage.place.line}){result}",
            "15.3",
            one.place,
        )


def _first_missing(mask: numpy.ndarray, view: NkiTensor) -> list[int] | None:
    """The index of the view's first element with a byte that was not written."""
    written = _elements(mask, view)
    missing = numpy.unravel_index(int(written.argmin()), written.shape)
    return None if written[missing] else [int(i) for i in missing[:-1]]


def _elements(mask: numpy.ndarray, view: NkiTensor) -> numpy.ndarray:
    """The bytes of a view: of each element, in the last dimension. All bytes if its place is not known."""
    if view.indirection is not None:
        return mask.reshape(1, -1)
    size = view.dtype.itemsize
    strides = (*(stride * size for stride in view.strides), 1)
    return numpy.ndarray((*view.shape, size), bool, mask, view.offset * size, strides)
