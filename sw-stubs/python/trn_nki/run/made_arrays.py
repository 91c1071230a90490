# SPDX-License-Identifier: Apache-2.0
"""Arrays described by texts in a scenario's step (doc/nki-running.md, "In scenarios")."""
from __future__ import annotations

import inspect
import math
import re
from typing import TYPE_CHECKING, Any

import numpy

from trn_nki.diagnostics.errors import KernelError
from trn_nki.run import arrays
from trn_nki.run.functions import function_of
from trn_nki.simulate import formats
from trn_nki.trace import host_arrays
from trn_nki.trace.exceptions import report_exception
from trn_nki.values import data_types

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_BYTES = 1 << 30  # of one array
_MADE = re.compile(r"\s*(\w+)\s*\[([\d\s,]*)\]\s*(.*?)\s*$")
_RANDOM = re.compile(r"random\(([^,]*),([^,]*)(?:,([^,]*))?\)$")
_MASK = (1 << 64) - 1


def is_function(text: str) -> bool:
    return re.search(r"\.py:\w+$", text) is not None


def made(text: str, name: str, folder: str, known: dict[str, Any]) -> host_arrays.HostArray:
    """The array of FILE.npy, FILE.npy:TYPE, FILE.py:FUNCTION or TYPE[SHAPE] CONTENT.

    `known`: values that functions may have as parameters; its `seed` is that of the scenario. Raises ValueError, OSError, KernelError.
    """
    found = _MADE.match(text)
    if found is None and is_function(text):
        return array_of(called(text, folder, known), text)
    if found is None:
        if not re.search(r"\.npy(:\w+)?$", text):
            raise ValueError(f"'{text}' is no FILE.npy, no FILE.py:FUNCTION and no TYPE[SHAPE] CONTENT")
        return arrays.read(text if text.startswith("/") else f"{folder}/{text}")
    dtype = arrays.type_named(found.group(1))
    extents = [extent.strip() for extent in found.group(2).split(",") if extent.strip()]
    if not all(extent.isdecimal() for extent in extents):
        raise ValueError(f"'{text}': expected extents with commas between them, as in float32[128, 512]")
    shape = tuple(map(int, extents))
    if not shape or math.prod(shape) * dtype.itemsize > MAX_BYTES:
        raise ValueError(f"'{text}': a shape needs extents, and an array has at most {MAX_BYTES} bytes")
    if is_function(found.group(3)):
        values = numbers(array_of(called(found.group(3), folder, known), text))
        if values.shape != shape:
            raise ValueError(f"{found.group(3)} returned the shape {list(values.shape)}, expected {list(shape)}")
        return of_numbers(values, dtype)
    return of_numbers(content(found.group(3), math.prod(shape), name, known["seed"]).reshape(shape), dtype)


def content(text: str, count: int, name: str, seed: int) -> npt.NDArray[Any]:
    """The numbers of a text, in the syntax of programs' tensors (doc/programs.md, "Running"). Raises ValueError."""
    if text == "index":
        return numpy.arange(count, dtype=numpy.float64)
    if found := _RANDOM.match(text):
        try:
            low, high = float(found.group(1)), float(found.group(2))
            own = _mix(round(float(found.group(3)))) if found.group(3) else _mix(seed) + _hash(name)
        except (ValueError, OverflowError):
            raise ValueError(f"'{text}': expected random(LOW, HIGH) or random(LOW, HIGH, SEED)") from None
        words = _mixed(numpy.arange(count, dtype=numpy.uint64) + numpy.uint64(own & _MASK))
        return low + (high - low) * ((words >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-53)
    try:
        return numpy.full(count, float(text))
    except ValueError:
        raise ValueError(f"'{text}': expected a number, index or random(LOW, HIGH)") from None


def parameters(text: str, folder: str, known: dict[str, Any]) -> dict[str, Any]:
    """The values of `known` that the function in a text has as parameters; none without a function. Raises ValueError."""
    made_by = _MADE.match(text)
    name = made_by.group(3) if made_by else text
    if not is_function(name):
        return {}
    wanted = {}
    for parameter in inspect.signature(function_of(name, folder)).parameters.values():
        if parameter.name in known:
            wanted[parameter.name] = known[parameter.name]
        elif parameter.default is parameter.empty:
            raise ValueError(f"{name}: there is no '{parameter.name}' for it; known are {', '.join(known)}")
    return wanted


def called(text: str, folder: str, known: dict[str, Any]) -> Any:
    """The result of FILE.py:FUNCTION, called with the values of `known` that its parameters name."""
    function, wanted = function_of(text, folder), parameters(text, folder, known)
    try:
        return function(**wanted)
    except KernelError:
        raise
    except Exception as error:
        report_exception(error)


def array_of(value: Any, text: str) -> host_arrays.HostArray:
    """An array that a user's function returned. Raises ValueError."""
    if not host_arrays.is_array(value):
        raise ValueError(f"{text} returned {type(value).__name__}, expected an array")
    return host_arrays.as_host_array(value)


def numbers(array: host_arrays.HostArray) -> Any:
    """For users' functions: NumPy's array if NumPy has the type, else its values in FP32."""
    found = host_arrays.to_numpy(array)
    if isinstance(found, numpy.ndarray) or array.dtype.is_packed:
        return found
    return formats.to_float32(array.raw, array.dtype)


def of_numbers(values: npt.NDArray[Any], dtype: data_types.DataType) -> host_arrays.HostArray:
    """Rounded to nearest even; integers saturate, and are made from FP64 where FP32 cannot hold them."""
    if not data_types.is_computed(dtype) and not dtype.is_integer and numpy.any(values):
        raise ValueError(f"numbers other than 0 are no elements of {dtype}; give its bits in a file")
    if dtype.is_integer and dtype.itemsize >= 4:
        return host_arrays.HostArray(formats.to_integers(values, dtype), dtype)
    return host_arrays.HostArray(formats.from_float32(values.astype(numpy.float32), dtype), dtype)


def _mix(z: int) -> int:
    """The finaliser of SplitMix64, as in sw-stubs/host/values/pattern.h."""
    z &= _MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
    return z ^ (z >> 31)


def _mixed(z: npt.NDArray[Any]) -> npt.NDArray[Any]:
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))


def _hash(name: str) -> int:
    key = 0
    for character in name.encode():
        key = _mix(key + character + 1)
    return key
