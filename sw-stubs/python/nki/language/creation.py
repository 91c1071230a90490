# SPDX-License-Identifier: Apache-2.0
"""nki.language: tensors made, loaded and stored."""
from __future__ import annotations

import math
import os
from typing import Any

import numpy

import nki.isa as nisa
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import DynamicSlice as ds
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace import host_arrays, recording
from trn_nki.values import data_types, operators
from trn_nki.values.memory_regions import MemoryRegion, sbuf, shared_hbm

__all__ = [
    "ds",
    "ndarray",
    "zeros",
    "ones",
    "full",
    "zeros_like",
    "empty_like",
    "load",
    "store",
    "load_transpose2d",
    "shared_constant",
    "shared_identity_matrix",
    "rand",
    "random_seed",
    "expand_dims",
    "broadcast_to",
]


def ndarray(shape: Any, dtype: Any, buffer: Any = sbuf, name: str = "", address: Any = None) -> NkiTensor:
    """A tensor whose elements are not set. address is (partition, byte in the partition) of a tile."""
    return recording.current("nl.ndarray").allocate(shape, dtype, _region(buffer), name, address)


def full(shape: Any, fill_value: Any, dtype: Any, buffer: Any = sbuf, name: str = "") -> NkiTensor:
    """A tensor with all elements set."""
    made = ndarray(shape, dtype, buffer, name)
    if made.is_on_chip:
        nisa.memset(made, fill_value)
        return made
    raise KernelError("nl.full, nl.zeros and nl.ones make tiles; set a tensor in HBM by nisa.dma_copy from a tile")


def zeros(shape: Any, dtype: Any, buffer: Any = sbuf, name: str = "") -> NkiTensor:
    """A tile of zeros."""
    return full(shape, 0, dtype, buffer, name)


def ones(shape: Any, dtype: Any, buffer: Any = sbuf, name: str = "") -> NkiTensor:
    """A tile of ones."""
    return full(shape, 1, dtype, buffer, name)


def zeros_like(x: NkiTensor, dtype: Any = None, buffer: Any = None, name: str = "") -> NkiTensor:
    """A tile of zeros with the shape and type of x."""
    return zeros(x.shape, dtype or x.dtype, buffer or x.buffer, name)


def empty_like(x: NkiTensor, dtype: Any = None, buffer: Any = None, name: str = "") -> NkiTensor:
    """A tensor with the shape and type of x."""
    return ndarray(x.shape, dtype or x.dtype, buffer or x.buffer, name)


def load(src: NkiTensor, dtype: Any = None) -> NkiTensor:
    """A new tile in SBUF with the values of src."""
    made = ndarray(src.shape if src.ndim > 1 else (1,) + src.shape, dtype or src.dtype)
    nisa.dma_copy(dst=made, src=src)
    return made


def store(dst: NkiTensor, value: NkiTensor) -> None:
    """Copies a tile to a tensor in HBM of the same shape, up to dimensions of one element."""
    if not isinstance(dst, NkiTensor) or not isinstance(value, NkiTensor):
        wrong, what = (dst, "first") if not isinstance(dst, NkiTensor) else (value, "second")
        raise KernelError(f"nl.store(tensor, tile): the {what} argument is {type(wrong).__name__}, not a tensor")
    if [size for size in dst.shape if size != 1] != [size for size in value.shape if size != 1]:
        is_turned = [*dst.shape] == [*value.shape][::-1]
        advice = (
            "Store a transpose by nisa.dma_transpose"
            if is_turned
            else f"Give dst the tile's shape: dst.reshape({tuple(value.shape)})"
            if math.prod(dst.shape) == math.prod(value.shape)
            else "Slice the larger of them"
        )
        raise KernelError(f"nl.store: dst is {dst!r} and value is {value!r}; the shapes must agree. {advice}", "12")
    nisa.dma_copy(dst=dst, src=value)


def load_transpose2d(src: NkiTensor, dtype: Any = None) -> NkiTensor:
    """A new tile in SBUF with the transpose of src."""
    made = ndarray((src.shape[1], src.shape[0]), dtype or src.dtype)
    nisa.dma_transpose(dst=made, src=src)
    return made


def shared_constant(constant: Any) -> NkiTensor:
    """A tensor in HBM that holds an array of NumPy, or of a .npy file."""
    if isinstance(constant, (str, os.PathLike)):
        constant = numpy.load(constant)
    array = host_arrays.of(constant if isinstance(constant, host_arrays.HostArray) else numpy.asarray(constant))
    return recording.current("nl.shared_constant").allocate(array.shape, array.dtype, shared_hbm, data=array.raw)


def shared_identity_matrix(n: int, dtype: Any = data_types.uint8, dst: NkiTensor | None = None) -> NkiTensor:
    """The identity in SBUF."""
    made = ndarray((n, n), dtype) if dst is None else dst
    nisa.memset(made, 0)
    ramp = ndarray((n, n), data_types.float32)
    nisa.iota(ramp, [[1, n]], 0, -1)
    nisa.tensor_scalar(made, ramp, operators.equal, 0.0)
    return made


def rand(shape: Any, dtype: Any, buffer: Any = sbuf, name: str = "") -> NkiTensor:
    """A tile of random numbers in [0, 1)."""
    made = ndarray(shape, dtype, buffer, name)
    nisa.rand2(made, 0.0, 1.0)
    return made


def random_seed(seed: NkiTensor) -> None:
    """Seeds the generators from a tile of one element."""
    nisa.set_rng_seed(seed)


def expand_dims(x: NkiTensor, axis: int) -> NkiTensor:
    """x with a new dimension of one element."""
    return x.expand_dim(axis)


def broadcast_to(x: NkiTensor, shape: Any, dtype: Any = None) -> NkiTensor:
    """x repeated along its dimensions of one element; over partitions by a new tile."""
    if len(shape) != x.ndim or x.shape[0] not in (1, shape[0]):
        raise KernelError(f"nl.broadcast_to: {x!r} cannot become {tuple(shape)}; dimensions of one element are repeated")
    view = x
    for dimension, size in enumerate(shape):
        if dimension > 0 and view.shape[dimension] != size:
            view = view.broadcast(dimension, size)
    if view.shape[0] == shape[0] and (dtype is None or dtype == x.dtype):
        return view
    made = ndarray(shape, dtype or x.dtype)
    if view.shape[0] == shape[0]:
        nisa.tensor_copy(made, view)
    else:
        for quadrant in range(0, shape[0], 32):
            count = min(32, shape[0] - quadrant)
            nisa.nc_stream_shuffle(made[quadrant : quadrant + count], view, [0] * count + [255] * (32 - count))
    return made


def _region(buffer: Any) -> Any:
    if isinstance(buffer, str):
        try:
            return MemoryRegion("private_hbm" if buffer == "hbm" else buffer)
        except ValueError:
            pass
    return buffer
