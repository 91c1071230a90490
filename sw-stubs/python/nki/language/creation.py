# SPDX-License-Identifier: Apache-2.0
"""nki.language: tensors made, loaded and stored. `dtype` is a type of 3.1 by object, name or NumPy type; `name` is that of messages."""
from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Sequence

import numpy

import nki.isa as nisa
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import DynamicSlice as ds
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace import host_arrays, recording
from trn_nki.values import data_types, operators
from trn_nki.values.memory_regions import MemoryRegion, sbuf, shared_hbm

if TYPE_CHECKING:
    import numpy.typing as npt

    from trn_nki.tensors.argument_types import Buffer, ElementType, Number, Shape

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


def ndarray(shape: Shape, dtype: ElementType, buffer: Buffer = sbuf, name: str = "", address: tuple[int, int] | None = None) -> NkiTensor:
    """A tensor whose elements are not set. address is (partition, byte in the partition) of a tile.

    The first dimension of a tile is its partitions, at most 128 (2.2). Raises KernelError outside of a kernel, for an unknown
    type or memory, for a shape without elements, and for a tile that does not fit into a partition of SBUF or PSUM (2.1).
    """
    return recording.current("nl.ndarray").allocate(shape, dtype, _region(buffer), name, address)


def full(shape: Shape, fill_value: Number, dtype: ElementType, buffer: Buffer = sbuf, name: str = "") -> NkiTensor:
    """A tensor with all elements set.

    A tile; `fill_value` is converted as by nisa.memset. Raises KernelError as `ndarray`, and for a tensor in HBM.
    """
    made = ndarray(shape, dtype, buffer, name)
    if made.is_on_chip:
        nisa.memset(made, fill_value)
        return made
    raise KernelError("nl.full, nl.zeros and nl.ones make tiles; set a tensor in HBM by nisa.dma_copy from a tile")


def zeros(shape: Shape, dtype: ElementType, buffer: Buffer = sbuf, name: str = "") -> NkiTensor:
    """A tile of zeros. Raises KernelError as `full`."""
    return full(shape, 0, dtype, buffer, name)


def ones(shape: Shape, dtype: ElementType, buffer: Buffer = sbuf, name: str = "") -> NkiTensor:
    """A tile of ones. Raises KernelError as `full`."""
    return full(shape, 1, dtype, buffer, name)


def zeros_like(x: NkiTensor, dtype: ElementType | None = None, buffer: Buffer | None = None, name: str = "") -> NkiTensor:
    """A tile of zeros with the shape and type of x, in its memory. Raises KernelError as `full`."""
    return zeros(x.shape, dtype or x.dtype, buffer or x.buffer, name)


def empty_like(x: NkiTensor, dtype: ElementType | None = None, buffer: Buffer | None = None, name: str = "") -> NkiTensor:
    """A tensor with the shape and type of x, in its memory. Raises KernelError as `ndarray`."""
    return ndarray(x.shape, dtype or x.dtype, buffer or x.buffer, name)


def load(src: NkiTensor, dtype: ElementType | None = None) -> NkiTensor:
    """A new tile in SBUF with the values of src.

    A `src` of one dimension becomes [1, n]. Raises KernelError as `ndarray` and nisa.dma_copy (12).
    """
    made = ndarray(src.shape if src.ndim > 1 else (1,) + src.shape, dtype or src.dtype)
    nisa.dma_copy(dst=made, src=src)
    return made


def store(dst: NkiTensor, value: NkiTensor) -> None:
    """Copies a tile to a tensor in HBM of the same shape, up to dimensions of one element.

    Raises KernelError for other shapes, and as nisa.dma_copy (12).
    """
    if not isinstance(dst, NkiTensor) or not isinstance(value, NkiTensor):
        wrong, position = (dst, "first") if not isinstance(dst, NkiTensor) else (value, "second")
        raise KernelError(f"nl.store(tensor, tile): the {position} argument is {type(wrong).__name__}, not a tensor")
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


def load_transpose2d(src: NkiTensor, dtype: ElementType | None = None) -> NkiTensor:
    """A new tile in SBUF with the transpose of src, which has two dimensions. Raises KernelError as nisa.dma_transpose (8.2)."""
    made = ndarray((src.shape[1], src.shape[0]), dtype or src.dtype)
    nisa.dma_transpose(dst=made, src=src)
    return made


def shared_constant(constant: npt.ArrayLike | host_arrays.HostArray | str | os.PathLike[str]) -> NkiTensor:
    """A tensor in HBM that holds an array of NumPy, or of a .npy file.

    Raises KernelError for an array without element type of nki.language (3.1), OSError and ValueError for a file.
    """
    if isinstance(constant, (str, os.PathLike)):
        constant = numpy.load(constant)
    array = host_arrays.as_host_array(constant if isinstance(constant, host_arrays.HostArray) else numpy.asarray(constant))
    return recording.current("nl.shared_constant").allocate(array.shape, array.dtype, shared_hbm, data=array.raw)


def shared_identity_matrix(n: int, dtype: ElementType = data_types.uint8, dst: NkiTensor | None = None) -> NkiTensor:
    """The identity [n, n] in SBUF, in `dst` if it is given. Raises KernelError as nisa.iota (8.6)."""
    made = ndarray((n, n), dtype) if dst is None else dst
    nisa.memset(made, 0)
    ramp = ndarray((n, n), data_types.float32)
    nisa.iota(ramp, [[1, n]], 0, -1)
    nisa.tensor_scalar(made, ramp, operators.equal, 0.0)
    return made


def rand(shape: Shape, dtype: ElementType, buffer: Buffer = sbuf, name: str = "") -> NkiTensor:
    """A tile of random numbers in [0, 1). Raises KernelError as nisa.rand2, before NeuronCore-v4 always (8.4)."""
    made = ndarray(shape, dtype, buffer, name)
    nisa.rand2(made, 0.0, 1.0)
    return made


def random_seed(seed: NkiTensor) -> None:
    """Seeds the generators from a tile of one element. Raises KernelError as nisa.set_rng_seed (8.4)."""
    nisa.set_rng_seed(seed)


def expand_dims(x: NkiTensor, axis: int) -> NkiTensor:
    """x with a new dimension of one element. Raises KernelError for the first dimension of a tile."""
    return x.expand_dim(axis)


def broadcast_to(x: NkiTensor, shape: Sequence[int], dtype: ElementType | None = None) -> NkiTensor:
    """x repeated along its dimensions of one element; over partitions by a new tile.

    A `dtype` other than that of x makes a new tile, too. Raises KernelError for a shape that x cannot be repeated to.
    """
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


def _region(buffer: Buffer) -> Buffer:
    """The memory that a text names; any other value unchanged."""
    if isinstance(buffer, str):
        try:
            return MemoryRegion("private_hbm" if buffer == "hbm" else buffer)
        except ValueError:
            pass
    return buffer
