# SPDX-License-Identifier: Apache-2.0
"""Results of a kernel that the kernel does not write, or writes in part."""
from __future__ import annotations

from typing import Any, Iterator

import numpy

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.instructions import Instruction


def check_results(recording: Any) -> None:
    """Raises KernelError with the first index of a result that no instruction writes.

    A write whose place a register or an index tile gives counts for the whole tensor.
    """
    results = {tensor.storage: number for number, tensor in reversed(list(enumerate(recording.outputs)))
               if tensor.storage.role == "output"}
    masks = {storage: numpy.zeros(storage.size_bytes, bool) for storage in results}
    for core in recording.cores:
        for view in _writes(core.body):
            if view.storage in masks:
                _mark(masks[view.storage], view)
    for storage, number in results.items():
        missing = int(masks[storage].argmin())
        if not masks[storage][missing]:
            index = numpy.unravel_index(missing // storage.dtype.itemsize, storage.shape)
            raise KernelError(f"result {number}, {recording.outputs[number]!r}, is not written at "
                              f"[{', '.join(str(i) for i in index)}]", "15.3", storage.place)


def _writes(body: list[Any]) -> Iterator[NkiTensor]:
    for item in body:
        if isinstance(item, Instruction):
            yield from item.writes
        else:
            yield from _writes(item.body)


def _mark(mask: numpy.ndarray, view: NkiTensor) -> None:
    if view.indirection is not None:
        mask[:] = True
        return
    size = view.dtype.itemsize
    strides = (*(stride * size for stride in view.strides), 1)
    numpy.ndarray((*view.shape, size), bool, mask, view.offset * size, strides)[...] = True
