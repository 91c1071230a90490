# SPDX-License-Identifier: Apache-2.0
"""Results and tiles that the kernel does not write, and tensors that it writes in vain."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from trn_nki.diagnostics.errors import KernelError, warn
from trn_nki.diagnostics.places import shown
from trn_nki.tensors.storage import Storage
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.instructions import Instruction, instructions_of
from trn_nki.trace.recording import Recording

if TYPE_CHECKING:
    import numpy.typing as npt


def check_results(recording: Recording) -> None:
    """Raises KernelError with the first index of a result that no instruction writes.

    A write whose place a register or an index tile gives counts for the whole tensor.
    """
    results = [(number, tensor) for number, tensor in enumerate(recording.outputs) if tensor.storage.role == "output"]
    masks = {tensor.storage: numpy.zeros(tensor.storage.size_bytes, bool) for _, tensor in results}
    for core in recording.cores:
        for instruction in instructions_of(core.body):
            for view in instruction.writes:
                if view.storage in masks:
                    _elements(masks[view.storage], view)[...] = True
    for number, tensor in results:
        missing = _first_missing(masks[tensor.storage], tensor)
        if missing is not None:
            raise KernelError(f"result {number}, {tensor!r}, is not written at {missing}", "15.3", tensor.storage.place)


def check_tiles(recording: Recording) -> None:
    """Raises KernelError for an instruction that reads a tile before anything has written to it, and for a copy to a result
    of elements that nothing has written.

    Tiles at addresses that the kernel chose may hold what another tile wrote there; those of a loop's body, what an
    earlier pass wrote.
    """
    for core in recording.cores:
        tiles = _Tiles()
        for instruction in instructions_of(core.body):
            for view in instruction.reads if instruction.operation != "core_barrier" else ():
                if view.is_on_chip and view.storage.address is None and view.storage.loop is None:
                    tiles.check(instruction, view)
            for view in instruction.writes:
                if view.is_on_chip:  # scales lie in other partitions than their view says (3.9)
                    tiles.note(view, instruction.operation == "quantize_mx")


def warn_lost(recording: Recording) -> None:
    """Warns of tensors in HBM that are written, and neither read nor returned: a `return` was forgotten."""
    used = {tensor.storage for tensor in recording.outputs}
    written: dict[Storage, None] = {}
    for core in recording.cores:
        for instruction in instructions_of(core.body):
            used.update(view.storage for view in instruction.reads)
            written |= {view.storage: None for view in instruction.writes if view.buffer.is_hbm and view.storage.role != "input"}
    for storage in written:
        if storage not in used:
            warn(f"the kernel writes {storage!r}, and neither reads nor returns it", "15.3", storage.place)


class _Tiles:
    """The bytes of tiles that were written."""

    def __init__(self) -> None:
        self._whole: set[Storage] = set()
        self._masks: dict[Storage, npt.NDArray[numpy.bool_]] = {}

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

    def check(self, instruction: Instruction, view: NkiTensor) -> None:
        storage = view.storage
        if storage in self._whole:
            return
        position = ""
        if storage in self._masks:  # written in part, which a copy to a result must not show
            is_shown = instruction.operation == "dma_copy" and instruction.writes[0].storage.role == "output" and view.indirection is None
            missing = _first_missing(self._masks[storage], view) if is_shown else None
            if missing is None:
                return
            position = f" at {missing}"
        verb = "accumulates in" if any(view is written for written in instruction.writes) else "reads"
        result = next((f", for result {written!r}" for written in instruction.writes if written.storage.role == "output"), "")
        raise KernelError(
            f"nisa.{instruction.operation} {verb} {view!r}, to which nothing has written{position} "
            f"({shown(storage.place.file)}:{storage.place.line}){result}",
            "15.3",
            instruction.place,
        )


def _first_missing(mask: npt.NDArray[numpy.bool_], view: NkiTensor) -> list[int] | None:
    """The index of the view's first element with a byte that was not written."""
    written = _elements(mask, view)
    missing = numpy.unravel_index(int(written.argmin()), written.shape)
    return None if written[missing] else [int(i) for i in missing[:-1]]


def _elements(mask: npt.NDArray[numpy.bool_], view: NkiTensor) -> npt.NDArray[numpy.bool_]:
    """The bytes of a view: of each element, in the last dimension. All bytes if its place is not known."""
    if view.indirection is not None:
        return mask.reshape(1, -1)
    size = view.dtype.itemsize
    strides = (*(stride * size for stride in view.strides), 1)
    return numpy.ndarray((*view.shape, size), bool, mask, view.offset * size, strides)
