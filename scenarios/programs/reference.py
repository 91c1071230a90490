# SPDX-License-Identifier: Apache-2.0
"""What the programs beside this file compute, by NumPy: element types and matmuls as doc/spec/neuron-core.md 3 defines their bits.

Shares no code with the models. Arrays hold values as float32; encode() and decode() convert to and from bytes of an element type.
"""
import numpy

F32, F64 = numpy.float32, numpy.float64


def _bf16_bits(values):
    bits = numpy.ascontiguousarray(values, F32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def _e4m3fn_values():
    """The value of each of the 256 codes."""
    codes = numpy.arange(256)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    magnitude = numpy.where(exponent == 0, mantissa * 2.0**-9, (8 + mantissa) * 2.0 ** (exponent - 10.0))
    magnitude = numpy.where(codes & 0x7F == 0x7F, numpy.nan, magnitude)
    return numpy.where(codes & 0x80, -magnitude, magnitude).astype(F32)


E4M3FN = _e4m3fn_values()


def encode(values, kind):
    """Bytes of `values`, none of them NaN, rounded to nearest even."""
    if kind == "fp32":
        return numpy.ascontiguousarray(values, "<f4").tobytes()
    if kind == "bf16":
        return _bf16_bits(values).astype("<u2").tobytes()
    raise ValueError(kind)


def decode(data, kind, shape):
    if kind == "fp32":
        return numpy.frombuffer(data, "<f4").reshape(shape)
    if kind == "bf16":
        return (numpy.frombuffer(data, "<u2").astype(numpy.uint32) << 16).view(F32).reshape(shape)
    raise ValueError(kind)


def rounded(values, kind):
    """`values` as an element of `kind` holds them."""
    return decode(encode(values, kind), kind, numpy.shape(values))


def matmul(stationary, moving):
    """[K, M] and [K, N] to [M, N]: 3.7 for types whose products are exact in FP32. A pass of the array has 128 rows; passes are added."""
    total = None
    for first in range(0, len(stationary), 128):
        acc = numpy.zeros((stationary.shape[1], moving.shape[1]), F32)
        for k in range(first, min(first + 128, len(stationary))):
            acc += stationary[k][:, None] * moving[k][None, :]
        total = acc if total is None else total + acc
    return total


def mx_matmul(stationary, stationary_scales, moving, moving_scales):
    """[P, 4, M] and [P, 4, N] in E4M3FN, scales [P / 8, M] and [P / 8, N] as powers of two: passes of 128 partitions, added.

    Each partition's 4 products are summed in binary64, scaled, added in binary64 and rounded to FP32.
    """
    total = None
    for first in range(0, len(stationary), 128):
        acc = numpy.zeros((stationary.shape[2], moving.shape[2]), F32)
        for p in range(first, first + 128):
            a, b = stationary[p].astype(F64), moving[p].astype(F64)
            products = a[0][:, None] * b[0][None, :]
            for q in range(1, 4):
                products += a[q][:, None] * b[q][None, :]
            products *= stationary_scales[p // 8].astype(F64)[:, None]
            products *= moving_scales[p // 8].astype(F64)[None, :]
            acc = (acc + products).astype(F32)
        total = acc if total is None else total + acc
    return total
