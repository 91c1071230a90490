# SPDX-License-Identifier: Apache-2.0
"""Element types to FP32 and back (doc/spec/neuron-core.md, 3.1 and 3.2)."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy

from trn_nki.trace.host_arrays import raw_type
from trn_nki.values import data_types as types
from trn_nki.values.data_types import DataType

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[numpy.float32]
    Raw = npt.NDArray[Any]  # elements of raw_type()

# exponent bits, mantissa bits, bias, has infinities
_SMALL = {
    types.float8_e3m4: (3, 4, 3, True),
    types.float8_e4m3: (4, 3, 7, True),
    types.float8_e4m3fn: (4, 3, 7, False),
    types.float8_e5m2: (5, 2, 15, True),
}
_QUIET = {types.float8_e3m4: 0x78, types.float8_e4m3: 0x7C, types.float8_e4m3fn: 0x7F, types.float8_e5m2: 0x7E}
E2M1 = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], numpy.float32)


@functools.lru_cache(maxsize=None)
def _table(dtype: DataType) -> Floats:
    """The value of each of the 256 codes."""
    exponent_bits, mantissa_bits, bias, infinities = _SMALL[dtype]
    codes = numpy.arange(256)
    exponent, mantissa = codes >> mantissa_bits & (1 << exponent_bits) - 1, codes & (1 << mantissa_bits) - 1
    scaled = numpy.where(exponent == 0, mantissa * 2.0, mantissa + float(1 << mantissa_bits))
    values = numpy.ldexp(scaled, numpy.maximum(exponent, 0) - bias - mantissa_bits)
    if infinities:
        top = exponent == (1 << exponent_bits) - 1
        values = numpy.where(top, numpy.where(mantissa == 0, numpy.inf, numpy.nan), values)
    else:
        values = numpy.where(codes & 0x7F == 0x7F, numpy.nan, values)
    return numpy.where(codes & 0x80, -values, values).astype(numpy.float32)


def to_float32(raw: Raw, dtype: DataType) -> Floats:
    """Values of raw elements; 32-bit integers round to nearest even."""
    if dtype is types.float32:
        return raw
    if dtype is types.bfloat16:
        return (raw.astype(numpy.uint32) << 16).view(numpy.float32)
    if dtype is types.tfloat32:
        is_nan = numpy.isnan(raw.view(numpy.float32))  # stays one without its low bits
        return (raw & numpy.uint32(0xFFFFE000) | numpy.where(is_nan, numpy.uint32(0x00400000), numpy.uint32(0))).view(numpy.float32)
    if dtype in _SMALL:
        return _table(dtype)[raw]
    if dtype is types.float8_e8m0fnu:
        values = numpy.ldexp(1.0, raw.astype(numpy.int64) - 127).astype(numpy.float32)
        return numpy.where(raw == 0xFF, numpy.float32(numpy.nan), values)
    return raw.astype(numpy.float32)


def unpack(raw: Raw, dtype: DataType) -> Floats:
    """Values of packed elements: one more dimension, of 4."""
    if dtype is types.float4_e2m1fn_x4:
        codes = raw[..., None] >> numpy.array([0, 4, 8, 12], numpy.uint16) & 15
        return numpy.where(codes & 8, -E2M1[codes & 7], E2M1[codes & 7])
    inner = types.float8_e4m3fn if dtype is types.float8_e4m3fn_x4 else types.float8_e5m2
    codes = raw[..., None] >> numpy.array([0, 8, 16, 24], numpy.uint32) & 0xFF
    return _table(inner)[codes]


def from_float32(values: npt.ArrayLike, dtype: DataType) -> Raw:
    """Raw elements nearest to FP32 values: ties to even, NaN canonical, integers saturate."""
    values = numpy.asarray(values, numpy.float32)
    if dtype is types.float32:
        return numpy.where(numpy.isnan(values), numpy.float32(numpy.nan), values)
    if dtype in (types.bfloat16, types.tfloat32):
        drop = 16 if dtype is types.bfloat16 else 13
        bits = values.view(numpy.uint32).astype(numpy.uint64)
        bits = bits + (1 << drop - 1) - 1 + (bits >> drop & 1)
        bits = numpy.where(numpy.isnan(values), 0x7FC00000, bits >> drop << drop).astype(numpy.uint32)
        return (bits >> 16).astype(numpy.uint16) if drop == 16 else bits
    if dtype is types.float16:
        return numpy.where(numpy.isnan(values), numpy.float16(numpy.nan), values.astype(numpy.float16))
    if dtype in _SMALL:
        return _to_small(values, dtype)
    if dtype.is_integer:
        return to_integers(values, dtype)
    if not numpy.any(values):
        return numpy.zeros(values.shape, raw_type(dtype))
    raise NotImplementedError(f"no conversion from FP32 to {dtype}")


def integer_limits(dtype: DataType) -> numpy.iinfo[Any]:
    """The smallest and largest value of an integer type."""
    return numpy.iinfo(numpy.dtype(raw_type(dtype)))


def to_integers(values: npt.NDArray[Any], dtype: DataType) -> Raw:
    """Integers nearest to real values: ties to even, saturated; NaN is 0."""
    kind = raw_type(dtype)
    limits = integer_limits(dtype)
    rounded = numpy.rint(numpy.where(numpy.isnan(values), 0, values).astype(numpy.float64))
    low, high = float(limits.min), float(limits.max)  # of 64 bits, `high` is one above the largest
    whole: Raw = numpy.where((rounded > low) & (rounded < high), rounded, 0).astype(kind)
    return numpy.where(
        rounded <= low, numpy.asarray(limits.min, kind), numpy.where(rounded >= high, numpy.asarray(limits.max, kind), whole)
    )


def _to_small(values: npt.NDArray[Any], dtype: DataType) -> Raw:
    exponent_bits, mantissa_bits, bias, infinities = _SMALL[dtype]
    table = _table(dtype)[:128].astype(numpy.float64)
    finite = table[numpy.isfinite(table)]
    size = numpy.abs(values.astype(numpy.float64))
    known = numpy.isfinite(size)
    _, exponent = numpy.frexp(numpy.where(known, size, 0))
    quantum = numpy.ldexp(1.0, numpy.maximum(exponent - 1, 1 - bias) - mantissa_bits)
    rounded = numpy.rint(numpy.where(known, size, 0) / quantum) * quantum
    codes = numpy.searchsorted(finite, numpy.minimum(rounded, finite[-1]))
    overflow = ~known | (rounded > finite[-1])
    codes = numpy.where(overflow, len(finite) if infinities else _QUIET[dtype], codes)
    codes = codes | numpy.where(numpy.signbit(values), 0x80, 0)
    return numpy.where(numpy.isnan(values), _QUIET[dtype], codes).astype(numpy.uint8)
