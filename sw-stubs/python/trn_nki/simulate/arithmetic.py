# SPDX-License-Identifier: Apache-2.0
"""ALU operators and reductions in FP32 (doc/spec/neuron-core.md, 3.3 to 3.5)."""
from __future__ import annotations

from typing import Any

import numpy

from trn_nki.values import operators as op
from trn_nki.values.operators import Operator

_F = numpy.float32


def _max(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    return numpy.where(numpy.isnan(a) | numpy.isnan(b), _F(numpy.nan), numpy.where(a >= b, a, b))


def _min(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    return numpy.where(numpy.isnan(a) | numpy.isnan(b), _F(numpy.nan), numpy.where(a <= b, a, b))


def _power(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    return numpy.power(a.astype(numpy.float64), b.astype(numpy.float64)).astype(_F)


_ARITHMETIC = {
    op.add: numpy.add,
    op.subtract: numpy.subtract,
    op.multiply: numpy.multiply,
    op.maximum: _max,
    op.minimum: _min,
    op.equal: numpy.equal,
    op.not_equal: numpy.not_equal,
    op.greater_equal: numpy.greater_equal,
    op.greater: numpy.greater,
    op.less_equal: numpy.less_equal,
    op.less: numpy.less,
    op.power: _power,
    op.logical_and: lambda a, b: (a != 0) & (b != 0),
    op.logical_or: lambda a, b: (a != 0) | (b != 0),
    op.logical_xor: lambda a, b: (a != 0) ^ (b != 0),
    op.abs_max: lambda a, b: numpy.where(numpy.abs(a) > numpy.abs(b), a, b),
    op.abs_min: lambda a, b: numpy.where(numpy.abs(a) < numpy.abs(b), a, b),
    op.bypass: lambda a, b: a,
    op.abs: lambda a, b: numpy.abs(a),
    op.square: lambda a, b: a * a,
    op.relu: lambda a, b: _max(a, _F(0)),
    op.reciprocal: lambda a, b: _F(1) / a,
    op.rsqrt: lambda a, b: (1 / numpy.sqrt(numpy.asarray(a, numpy.float64))).astype(_F),
}


def compute(operator: Operator, a: numpy.ndarray, b: numpy.ndarray, reverse: bool = False) -> numpy.ndarray:
    """a operator b in FP32; b operator a when reversed, unless the operator ignores b."""
    if reverse and not operator.ignores_b:
        a, b = b, a
    return numpy.asarray(_ARITHMETIC[operator](numpy.asarray(a, _F), numpy.asarray(b, _F)), _F)


def _bits(value: Any, unsigned: numpy.dtype) -> numpy.ndarray:
    if numpy.ndim(value):
        return value.view(f"u{value.dtype.itemsize}").astype(unsigned)
    return numpy.asarray(int(value) % 2 ** (8 * unsigned.itemsize)).astype(unsigned)


def compute_bits(operator: Operator, a: numpy.ndarray, b: numpy.ndarray, reverse: bool = False) -> numpy.ndarray:
    """The bitvec operators on integers of the size of a; shift counts are unsigned."""
    kind = a.dtype
    unsigned = numpy.dtype(f"u{kind.itemsize}")
    a, b = _bits(a, unsigned), _bits(b, unsigned)
    if reverse and not operator.ignores_b:
        a, b = b, a
    if operator is op.invert:
        made = ~a
    elif operator.is_bitvec and operator in (op.left_shift, op.right_shift):
        inside = b < 8 * kind.itemsize
        count = numpy.where(inside, b, 0).astype(unsigned)
        moved = a << count if operator is op.left_shift else a >> count
        made = numpy.where(inside, moved, 0).astype(unsigned)
    elif operator is op.bypass:
        made = a
    else:
        made = {op.bitwise_and: a & b, op.bitwise_or: a | b, op.bitwise_xor: a ^ b}[operator]
    return made.view(kind)


def reduce(operator: Operator, values: numpy.ndarray, start: numpy.ndarray | None = None) -> numpy.ndarray:
    """Over the last dimension in order, one FP32 operation for each element, from `start` or the first element."""
    if start is not None:
        values = numpy.concatenate([numpy.asarray(start, _F)[..., None], values], axis=-1)
    if operator in (op.add, op.subtract, op.multiply):
        return _ARITHMETIC[operator].accumulate(values, axis=-1, dtype=_F)[..., -1]
    if operator in (op.maximum, op.minimum):
        found = (numpy.maximum if operator is op.maximum else numpy.minimum).reduce(values, axis=-1)
        first = numpy.argmax(values == found[..., None], axis=-1)
        kept = numpy.take_along_axis(values, first[..., None], axis=-1)[..., 0]
        return numpy.where(numpy.isnan(found), found, kept)
    found = values[..., 0]
    for i in range(1, values.shape[-1]):
        found = compute(operator, found, values[..., i])
    return found
