# SPDX-License-Identifier: Apache-2.0
"""Arrays of the host, with element types that NumPy does not have."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, TypeGuard

import numpy

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values import data_types
from trn_nki.values.data_types import DataType

if TYPE_CHECKING:
    import numpy.typing as npt

    from trn_nki.values.argument_types import ElementType

# NumPy type of the raw elements, for every type.
RAW: dict[DataType, type[numpy.generic]] = {
    data_types.float32: numpy.float32,
    data_types.tfloat32: numpy.uint32,
    data_types.float16: numpy.float16,
    data_types.int64: numpy.int64,
    data_types.uint64: numpy.uint64,
    data_types.int8: numpy.int8,
    data_types.int16: numpy.int16,
    data_types.int32: numpy.int32,
    data_types.bool_: numpy.uint8,
    data_types.uint8: numpy.uint8,
    data_types.uint16: numpy.uint16,
    data_types.uint32: numpy.uint32,
}


def raw_type(dtype: DataType) -> type[numpy.generic]:
    """NumPy's type if it has one, else the unsigned integer of the same size, for the bits."""
    return RAW.get(dtype) or RAW[data_types.OF_BITS[dtype.itemsize]]


class HostArray:
    """Elements of any type: `raw` holds the bits in an array of `raw_type(dtype)`."""

    def __init__(self, raw: npt.NDArray[Any], dtype: ElementType):
        self.dtype = data_types.named(dtype)
        self.raw: npt.NDArray[Any] = numpy.ascontiguousarray(raw).view(raw_type(self.dtype))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.raw.shape

    def __repr__(self) -> str:
        return f"HostArray({self.dtype}, {self.shape})"


def is_array(value: object) -> TypeGuard[npt.NDArray[Any] | HostArray]:
    return isinstance(value, (numpy.ndarray, HostArray))


def check_other(name: str, value: object) -> None:
    """Raises KernelError for an array of another library, such as PyTorch."""
    kind = type(value)
    if not hasattr(kind, "__array__") or isinstance(value, numpy.generic):
        return
    library = kind.__module__.partition(".")[0]
    bits = (
        f", or of bfloat16 trn_nki.trace.host_arrays.HostArray({name}.view(torch.int16).numpy(), nl.bfloat16)" if library == "torch" else ""
    )
    call = f"{name}.detach().cpu().numpy()" if library == "torch" else f"numpy.asarray({name})"
    raise KernelError(f"argument {name} is a {library}.{kind.__name__}; kernels take and return arrays of NumPy: pass {call}{bits}")


def as_host_array(value: npt.NDArray[Any] | HostArray) -> HostArray:
    """A HostArray of an array of NumPy, in any byte order. float64 and bool become float32 and uint8.

    Raises KernelError for a type that no element type holds, such as complex64.
    """
    if isinstance(value, HostArray):
        return value
    if value.dtype == numpy.float64:
        value = value.astype(numpy.float32)
    elif value.dtype == numpy.bool_:
        value = value.astype(numpy.uint8)
    if value.ndim == 0:
        value = value.reshape(1)
    try:
        dtype = data_types.named(value.dtype.name)
    except KeyError:
        raise KernelError(f"an array of {value.dtype.name} is no tensor: nki.language has no such element type", "3.1") from None
    return HostArray(value.astype(value.dtype.newbyteorder("="), copy=False), dtype)


def to_numpy(array: HostArray) -> npt.NDArray[Any] | HostArray:
    """NumPy's array when NumPy has the type, else the HostArray."""
    return array.raw if array.dtype in RAW and array.dtype is not data_types.tfloat32 else array


def in_structure(result: Any, values: Callable[[NkiTensor], HostArray]) -> Any:
    """What a kernel returned, with each tensor replaced: `values` maps a tensor to its array."""
    if isinstance(result, NkiTensor):
        return to_numpy(values(result))
    if isinstance(result, tuple) and hasattr(result, "_fields"):  # a NamedTuple
        return type(result)(*(in_structure(part, values) for part in result))
    if isinstance(result, (tuple, list)):
        return type(result)(in_structure(part, values) for part in result)
    if isinstance(result, dict):
        return {key: in_structure(part, values) for key, part in result.items()}
    return result
