# SPDX-License-Identifier: Apache-2.0
"""Activation functions: the exact function rounded once to FP32 (doc/spec/neuron-core.md, 3.6)."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Callable

import numpy

from trn_nki.values import operators as op
from trn_nki.values.operators import Operator

if TYPE_CHECKING:
    import numpy.typing as npt

    from trn_nki.simulate.formats import Floats

    Doubles = npt.NDArray[numpy.float64]

_ROOT_2, _ROOT_2PI = math.sqrt(2.0), math.sqrt(2.0 * math.pi)
_erf = numpy.vectorize(math.erf, otypes=[numpy.float64])
_erfc = numpy.vectorize(math.erfc, otypes=[numpy.float64])


def _sigmoid(x: Doubles) -> Doubles:
    power = numpy.exp(-numpy.abs(x))
    return numpy.where(x >= 0, 1 / (1 + power), power / (1 + power))


def _from_half(x: Doubles, slope: float, value: Doubles) -> Doubles:
    """1/2 + slope * x - c * x^3 near 0, where 1/2 + slope * x may be halfway between two FP32 values: the third term, too
    small for FP64, decides."""
    near = 0.5 + slope * x
    near = numpy.where(x == 0, near, numpy.nextafter(near, numpy.where(x > 0, 0.0, 1.0)))
    return numpy.where(numpy.abs(x) < 2.0**-12, near, value)


def _normal(x: Doubles) -> Doubles:
    return _erfc(-x / _ROOT_2) / 2


def _times(x: Doubles, y: Doubles) -> Doubles:
    """x * y, with -0 where y vanishes at -Inf. y grows and is 1/2 at 0: where x / 2 is halfway between two FP32 values,
    the next term of the series decides, which is positive."""
    is_near = (x != 0) & (numpy.abs(x) < 2.0**-60)
    product = numpy.where(is_near, x * y + numpy.abs(x) * 2.0**-50, x * y)
    return numpy.where(numpy.isneginf(x), -0.0, product)


def _derivative(x: Doubles, value: Doubles) -> Doubles:
    """The derivative of a function that approaches 0 from below and x from above: its limits at infinities are -0 and 1."""
    value = numpy.where(numpy.isinf(x), numpy.where(x < 0, -0.0, 1.0), value)
    return numpy.where((x < 0) & (value == 0), -0.0, value)


def _softplus(x: Doubles) -> Doubles:
    return numpy.maximum(x, 0) + numpy.log1p(numpy.exp(-numpy.abs(x)))


def _gelu_tanh(x: Doubles) -> Doubles:
    y = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return _times(x, _sigmoid(2 * y))


def _gelu_sigmoid_dx(x: Doubles) -> Doubles:
    s = _sigmoid(1.702 * x)
    return _derivative(x, s + 1.702 * x * s * _sigmoid(-1.702 * x))


def _sign(x: Doubles) -> Doubles:
    return numpy.where(numpy.isnan(x) | (x == 0), x, numpy.sign(x))


_FUNCTIONS: dict[Operator, Callable[[Doubles], Doubles]] = {
    op.copy: lambda x: x,
    op.square: lambda x: x * x,
    op.abs: numpy.abs,
    op.sign: _sign,
    op.relu: lambda x: numpy.where(numpy.isnan(x), x, numpy.where(x >= 0, x, 0.0)),
    op.sigmoid: lambda x: _from_half(x, 0.25, _sigmoid(x)),
    op.tanh: numpy.tanh,
    op.exp: numpy.exp,
    op.gelu: lambda x: _times(x, _normal(x)),
    op.gelu_dx: lambda x: _derivative(x, _normal(x) + x * numpy.exp(-x * x / 2) / _ROOT_2PI),
    op.gelu_apprx_tanh: _gelu_tanh,
    op.gelu_apprx_sigmoid: lambda x: _times(x, _sigmoid(1.702 * x)),
    op.gelu_apprx_sigmoid_dx: _gelu_sigmoid_dx,
    op.silu: lambda x: _times(x, _sigmoid(x)),
    op.silu_dx: lambda x: _derivative(x, _from_half(x, 0.5, _sigmoid(x) * (1 + x * _sigmoid(-x)))),
    op.softplus: _softplus,
    op.mish: lambda x: _times(x, numpy.tanh(_softplus(x))),
    op.erf: _erf,
    op.erf_dx: lambda x: 2 / math.sqrt(math.pi) * numpy.exp(-x * x),
    op.log: numpy.log,
    op.sin: numpy.sin,
    op.arctan: numpy.arctan,
    op.sqrt: numpy.sqrt,
    op.rsqrt: lambda x: 1 / numpy.sqrt(x),
    op.reciprocal: lambda x: 1 / x,
}


def apply(function: Operator, x: Floats, slope: float | Floats | numpy.float32 = 0.0) -> Floats:
    """function(x) in FP32 of FP32 values; slope is that of prelu below 0."""
    wide = numpy.asarray(x, numpy.float64)
    if function is op.prelu:
        return numpy.where(wide >= 0, wide, slope * wide).astype(numpy.float32)
    return numpy.asarray(_FUNCTIONS[function](wide), numpy.float32)
