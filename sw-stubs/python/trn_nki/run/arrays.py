# SPDX-License-Identifier: Apache-2.0
"""Arrays of the command line: NumPy files, with an explicit type if NumPy has none, and generated values."""
from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import numpy

from trn_nki.diagnostics.errors import KernelError, closest
from trn_nki.simulate import formats
from trn_nki.trace import host_arrays
from trn_nki.values import data_types

if TYPE_CHECKING:
    import numpy.typing as npt


def read(text: str) -> host_arrays.HostArray:
    """FILE.npy or FILE.npy:TYPE, whose elements hold the bits of TYPE. Raises ValueError, OSError."""
    name, _, type_name = text.partition(".npy:")
    path = pathlib.Path(name + ".npy" if type_name else text)
    try:
        raw = numpy.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        raw = None
    if not isinstance(raw, numpy.ndarray):  # numpy.load also reads archives of arrays
        raise ValueError(f"{path} is no NumPy file of one array (.npy)")
    if not type_name:
        try:
            return host_arrays.as_host_array(raw)
        except KernelError as error:
            raise ValueError(f"{path}: {error.message}") from None
    dtype = type_named(type_name)
    raw = raw.astype(raw.dtype.newbyteorder("="), copy=False)
    if dtype.itemsize == raw.dtype.itemsize:
        return host_arrays.HostArray(raw, dtype)
    if dtype == data_types.bfloat16 and raw.dtype == numpy.float32:
        return host_arrays.HostArray(formats.from_float32(raw, dtype), dtype)
    raise ValueError(f"{path} has elements of {raw.dtype.itemsize} bytes, {type_name} has {dtype.itemsize}")


def type_named(text: str) -> data_types.DataType:
    """Raises ValueError."""
    try:
        return data_types.named(text)
    except KeyError:
        hint = closest(text, data_types.ALL) or f"  (known: {', '.join(data_types.ALL)})"
        raise ValueError(f"{text!r} is no element type of nki.language{hint}") from None


def write(path: str, array: host_arrays.HostArray) -> None:
    with open(path, "wb") as file:  # numpy.save adds .npy to other names
        numpy.save(file, array.raw, allow_pickle=False)


def as_float(array: host_arrays.HostArray) -> npt.NDArray[Any]:
    """The values as float64; of packed types and scales the bits."""
    if array.dtype.is_float:
        return formats.to_float32(array.raw, array.dtype).astype(numpy.float64)
    return array.raw.astype(numpy.float64)
