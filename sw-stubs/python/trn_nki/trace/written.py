# SPDX-License-Identifier: Apache-2.0
"""Results and tiles that the kernel does not write."""
from __future__ import annotations

from typing import Any

import numpy

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.instructions import instructions_of


def check_results(recording: Any) -> None:
    """Raises KernelError with the first index of a result that no instruction writes.

    A write whose place a register or an index tile gives counts for the whole tensor.
    """
    results = [(number, tensor) for number, tensor in enumerate(recording.outputs) if tensor.storage.role == "output"]
    masks = {tensor.storage: numpy.zeros(tensor.storage.size_bytes, bool) for _, tensor in results}
    for core in recording.cores:
        for view in (view for one in instructions_of(core.body) for view in one.writes):
            if view.storage in masks:
                _elements(masks[view.storage], view)[...] = True
    for number, tensor in results:
        written = _elements(masks[tensor.storage], tensor)
        missing = numpy.unravel_index(int(written.argmin()), written.shape)
        if not written[missing]:
            raise KernelError(f"result {number}, {tensor!r}, is not written at [{', '.join(str(i) for i in missing[:-1])}]",
                              "15.3", tensor.storage.place)


def check_tiles(recording: Any) -> None:
    """Raises KernelError for an instruction that reads a tile before anything has written to it.

    Tiles at addresses that the kernel chose may hold what another tile wrote there; those of a loop's body, what an
    earlier pass wrote.
    """
    for core in recording.cores:
        written = set()
        for one in instructions_of(core.body):
            for view in one.reads if one.operation != "core_barrier" else ():
                storage = view.storage
                if storage not in written and view.is_on_chip and storage.address is None and storage.loop is None:
                    raise KernelError(f"nisa.{one.operation} reads {view!r}, to which nothing has written "
                                      f"({storage.place.file}:{storage.place.line})", "15.3", one.place)
            written.update(view.storage for view in one.writes)


def _elements(mask: numpy.ndarray, view: NkiTensor) -> numpy.ndarray:
    """The bytes of a view: of each element, in the last dimension. All bytes if its place is not known."""
    if view.indirection is not None:
        return mask.reshape(1, -1)
    size = view.dtype.itemsize
    strides = (*(stride * size for stride in view.strides), 1)
    return numpy.ndarray((*view.shape, size), bool, mask, view.offset * size, strides)
