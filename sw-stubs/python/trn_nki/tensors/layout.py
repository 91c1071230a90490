# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on shapes and strides."""
from __future__ import annotations

import functools
import math
from typing import Any, Protocol, Sequence

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.indirection import Indirection
from trn_nki.tensors.storage import Storage
from trn_nki.values.data_types import DataType


@functools.lru_cache(maxsize=4096)
def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, stride = [], 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def merged(strides: Sequence[int], shape: Sequence[int]) -> list[tuple[int, int]]:
    """(stride, count), slowest first, without dimensions of one element, neighbours merged. Never empty."""
    found: list[tuple[int, int]] = []
    for stride, count in zip(strides, shape):
        if count == 1:
            continue
        if found and found[-1][0] == stride * count:
            found[-1] = (stride, found[-1][1] * count)
        else:
            found.append((stride, count))
    return found or [(1, 1)]


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def inferred(shape: tuple[int, ...], size: int, tensor: object) -> tuple[int, ...]:
    """`shape` with one -1 replaced so that it has `size` elements. Raises KernelError."""
    known = math.prod(n for n in shape if n != -1)
    if shape.count(-1) == 1 and known > 0 and size % known == 0:
        return tuple(size // known if n == -1 else n for n in shape)
    if -1 in shape or known != size:
        raise KernelError(f"{tensor!r} has {size} elements here; shape {shape} does not")
    return shape


def reshaped(shape: Sequence[int], strides: Sequence[int], new: Sequence[int]) -> tuple[int, ...] | None:
    """Strides of the same elements in the same order with another shape; None when there are none."""
    runs = merged(strides, shape)
    found: list[int] = []
    stride, left = runs.pop()
    for size in reversed(new):
        if left == 1 and runs and size != 1:
            stride, left = runs.pop()
        if size != 1 and left % size:
            return None
        found.append(stride)
        if size != 1:
            stride, left = stride * size, left // size
    return tuple(reversed(found)) if left == 1 and not runs else None


class Placed(Protocol):
    """What check_inside() reads of NkiTensor."""

    storage: Storage
    dtype: DataType
    shape: tuple[int, ...]
    offset: int
    indirection: Indirection[Any] | None

    @property
    def pitch(self) -> int:
        """Elements of one partition of the storage."""


def check_inside(tensor: Placed, strides: Sequence[int], pattern: object) -> None:
    """Refuses a pattern that leaves the storage. `tensor` has the pattern's shape, type and offset."""
    storage, size = tensor.storage, tensor.dtype.itemsize
    low = high = 0
    first = 1 if storage.is_on_chip else 0
    for stride, count in list(zip(strides, tensor.shape))[first:]:
        low += min(0, stride * (count - 1))
        high += max(0, stride * (count - 1))
    if not storage.is_on_chip:
        if tensor.indirection is not None and tensor.indirection.kind == "vector":
            high -= max(0, strides[0] * (tensor.shape[0] - 1))
        available = storage.size_bytes // size
        if tensor.offset + low < 0 or tensor.offset + high >= available:
            raise KernelError(
                f"pattern {pattern} with offset {tensor.offset} reaches elements {tensor.offset + low} to "
                f"{tensor.offset + high} of {storage!r}, which has {available}",
                "2.3",
            )
        return
    pitch = tensor.pitch
    if tensor.shape[0] > 1 and strides[0] != pitch:
        raise KernelError(
            f"stride {strides[0]} of the partition dimension is not {pitch}, the elements of one partition of {storage!r}", "2.2"
        )
    element, partition = tensor.offset % pitch, tensor.offset // pitch
    if element + low < 0 or element + high >= pitch:
        raise KernelError(
            f"pattern {pattern} reaches elements {element + low} to {element + high} of a partition of {storage!r}, which has {pitch}",
            "2.3",
        )
    if partition < 0 or partition + tensor.shape[0] > storage.partitions:
        raise KernelError(
            f"pattern {pattern} reaches partitions {partition} to {partition + tensor.shape[0] - 1} of "
            f"{storage!r}, which has {storage.partitions}",
            "2.2",
        )
