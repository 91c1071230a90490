# SPDX-License-Identifier: Apache-2.0
"""ALU operators and reductions in FP32 (doc/spec/neuron-core.md, 3.3 to 3.5)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy

from trn_nki.values import operators as op
from trn_nki.values.operators import Operator

if TYPE_CHECKING:
    import numpy.typing as npt

    from trn_nki.simulate.formats import Floats, Raw

_F = numpy.float32


def _max(a: Floats, b: Floats | numpy.float32) -> Floats:
    return numpy.where(numpy.isnan(a) | numpy.isnan(b), _F(numpy.nan), numpy.where(a >= b, a, b))


def _min(a: Floats, b: Floats) -> Floats:
    return numpy.where(numpy.isnan(a) | numpy.isnan(b), _F(numpy.nan), numpy.where(a <= b, a, b))


def _power(a: Floats, b: Floats) -> Floats:
    return numpy.power(a.astype(numpy.float64), b.astype(numpy.float64)).astype(_F)


_ARITHMETIC: dict[Operator, Callable[[Floats, Floats], npt.NDArray[Any]]] = {
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


UFUNCS: dict[Operator, numpy.ufunc] = {op.add: numpy.add, op.subtract: numpy.subtract, op.multiply: numpy.multiply}
_EXTREMES: dict[Operator, numpy.ufunc] = {op.maximum: numpy.maximum, op.minimum: numpy.minimum}


def compute(operator: Operator, a: npt.ArrayLike, b: npt.ArrayLike, reverse: bool = False) -> Floats:
    """a operator b in FP32; b operator a when reversed, unless the operator ignores b."""
    if reverse and not operator.ignores_b:
        a, b = b, a
    return numpy.asarray(_ARITHMETIC[operator](numpy.asarray(a, _F), numpy.asarray(b, _F)), _F)


def _bits(value: Raw | int, unsigned: numpy.dtype[Any]) -> Raw:
    if isinstance(value, numpy.ndarray) and value.ndim:
        return value.view(f"u{value.dtype.itemsize}").astype(unsigned)
    return numpy.asarray(int(value) % 2 ** (8 * unsigned.itemsize)).astype(unsigned)


def compute_bits(operator: Operator, a: Raw, b: Raw | int, reverse: bool = False) -> Raw:
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


def reduce(operator: Operator, values: Floats, start: Floats | None = None) -> Floats:
    """Over the last dimension in order, one FP32 operation for each element, from `start` or the first element."""
    if start is not None:
        values = numpy.concatenate([numpy.asarray(start, _F)[..., None], values], axis=-1)
    if operator in UFUNCS:
        return UFUNCS[operator].accumulate(values, axis=-1, dtype=_F)[..., -1]
    if operator in _EXTREMES:
        found = _EXTREMES[operator].reduce(values, axis=-1)
        first = numpy.argmax(values == found[..., None], axis=-1)
        kept = numpy.take_along_axis(values, first[..., None], axis=-1)[..., 0]
        return numpy.where(numpy.isnan(found), found, kept)
    found = values[..., 0]
    for i in range(1, values.shape[-1]):
        found = compute(operator, found, values[..., i])
    return found
