# SPDX-License-Identifier: Apache-2.0
"""nki.language: functions on tiles. Each makes a new tile in SBUF (nl.matmul in PSUM) and instructions.

The new tile has the shape of the first one and the type `dtype`, or that of the first tile. Functions raise KernelError as the
functions of nki.isa that they call; sections are those of doc/spec/neuron-core.md.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Callable, NoReturn, Sequence

import nki.isa as nisa
from nki.language.creation import ndarray
from trn_nki.checks.lanes import reduced_axes
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values import data_types, operators
from trn_nki.values.memory_regions import psum
from trn_nki.values.operators import Operator

if TYPE_CHECKING:
    from trn_nki.tensors.argument_types import Axes, ElementType, Scalar

__all__ = [
    "sum",
    "max",
    "min",
    "mean",
    "prod",
    "all",
    "negative",
    "transpose",
    "matmul",
    "softmax",
    "rms_norm",
    "where",
    "dropout",
    "gather_flattened",
    "ceil",
    "floor",
    "trunc",
    "cos",
    "tan",
    "var",
]


def _result(like: NkiTensor, dtype: ElementType | None, shape: Sequence[int] | None = None) -> NkiTensor:
    return ndarray(shape or like.shape, dtype or like.dtype)


def _binary(op: Operator) -> Callable[..., NkiTensor]:
    def apply(x: Scalar, y: Scalar, dtype: ElementType | None = None) -> NkiTensor:
        if not isinstance(x, NkiTensor) and not isinstance(y, NkiTensor):
            raise KernelError(f"nl.{op.name} needs a tile")
        if isinstance(x, NkiTensor) and isinstance(y, NkiTensor) and (y.free_size > 1 or x.free_size == 1):
            x, y = _matched(x, y)
            made = _result(x, dtype)
            nisa.tensor_tensor(made, x, y, op)
        elif isinstance(x, NkiTensor):
            made = _result(x, dtype)
            nisa.tensor_scalar(made, x, op, y)
        else:
            assert isinstance(y, NkiTensor)
            made = _result(y, dtype)
            nisa.tensor_scalar(made, y, op, x, reverse0=True)
        return made

    return apply


def _matched(x: NkiTensor, y: NkiTensor) -> tuple[NkiTensor, NkiTensor]:
    """Broadcasts free dimensions of one element."""
    for dimension, (mine, other) in enumerate(zip(x.shape, y.shape)):
        if dimension > 0 and mine == 1 != other:
            x = x.broadcast(dimension, other)
        elif dimension > 0 and other == 1 != mine:
            y = y.broadcast(dimension, mine)
    return x, y


def _unary(op: Operator) -> Callable[..., NkiTensor]:
    def apply(x: NkiTensor, dtype: ElementType | None = None) -> NkiTensor:
        made = _result(x, dtype)
        if op is operators.reciprocal:
            nisa.reciprocal(made, x)
        elif op is operators.copy:
            nisa.tensor_copy(made, x)
        elif op is operators.invert:
            nisa.tensor_scalar(made, x, operators.bitwise_xor, -1)
        else:
            nisa.activation(made, op, x)
        return made

    return apply


def _refused(op: Operator) -> Callable[..., NoReturn]:
    def apply(*_: object, **__: object) -> NoReturn:
        raise KernelError(f"nl.{op.name} cannot work: no engine has this operator", "3.4")

    return apply


def _divide(x: Scalar, y: Scalar, dtype: ElementType | None = None) -> NkiTensor:
    if isinstance(y, NkiTensor):
        inverse = ndarray(y.shape, data_types.float32)
        nisa.reciprocal(inverse, y)
        return operators.multiply(x, inverse, dtype or (x if isinstance(x, NkiTensor) else y).dtype)
    return operators.multiply(x, 1.0 / y, dtype)


def _logical_not(x: NkiTensor, dtype: ElementType | None = None) -> NkiTensor:
    return operators.equal(x, 0.0, dtype)


for _op in list(operators.ALL.values()):
    if _op.operands == 1 and (_op.activation is not None or _op is operators.invert) and _op is not operators.prelu:
        _op.apply = _unary(_op)
    elif _op.code is not None and _op.operands == 2 and _op not in (operators.bypass, operators.average):
        _op.apply = _binary(_op)
for _op in (operators.fmod, operators.mod):
    _op.apply = _refused(_op)
operators.divide.apply = _divide
operators.logical_not.apply = _logical_not


def _reduce(op: Operator, x: NkiTensor, axis: Axes, dtype: ElementType | None, keepdims: bool) -> NkiTensor:
    axes = reduced_axes(axis, x.ndim)
    kept = x.shape[: axes[0]]
    shape = kept + (1,) * (len(axes) if keepdims or len(kept) == 1 else 0)
    made = _result(x, dtype, shape)
    nisa.tensor_reduce(made, op, x, axes)
    return made


def sum(x: NkiTensor, axis: Axes, dtype: ElementType | None = None, keepdims: bool = False) -> NkiTensor:
    """The sum over the last free dimensions.

    `axis`: the last free dimensions, without a gap; `keepdims` keeps them with one element. Raises KernelError for others (8.4).
    """
    return _reduce(operators.add, x, axis, dtype, keepdims)


def max(x: NkiTensor, axis: Axes, dtype: ElementType | None = None, keepdims: bool = False) -> NkiTensor:
    """The largest over the last free dimensions; arguments and errors: those of `sum`."""
    return _reduce(operators.maximum, x, axis, dtype, keepdims)


def min(x: NkiTensor, axis: Axes, dtype: ElementType | None = None, keepdims: bool = False) -> NkiTensor:
    """The smallest over the last free dimensions; arguments and errors: those of `sum`."""
    return _reduce(operators.minimum, x, axis, dtype, keepdims)


def prod(x: NkiTensor, axis: Axes, dtype: ElementType | None = None, keepdims: bool = False) -> NkiTensor:
    """The product over the last free dimensions; arguments and errors: those of `sum`."""
    return _reduce(operators.multiply, x, axis, dtype, keepdims)


def all(x: NkiTensor, axis: Axes, dtype: ElementType | None = None) -> NkiTensor:
    """1 where all elements over the last free dimensions are not 0, else 0; arguments and errors: those of `sum`."""
    return _reduce(operators.logical_and, x, axis, dtype, False)


def mean(x: NkiTensor, axis: Axes, dtype: ElementType | None = None, keepdims: bool = False) -> NkiTensor:
    """The mean over the last free dimensions, computed in FP32; arguments and errors: those of `sum`."""
    total = _reduce(operators.add, x, axis, data_types.float32, keepdims)
    count = math.prod(x.shape[axis_] for axis_ in reduced_axes(axis, x.ndim))
    return operators.multiply(total, 1.0 / count, dtype or x.dtype)


def var(x: NkiTensor, axis: Axes, dtype: ElementType | None = None, keepdims: bool = False) -> NkiTensor:
    """The variance over the last free dimensions, computed in FP32; arguments and errors: those of `sum`."""
    centre = mean(x, axis, data_types.float32, keepdims=True)
    difference = operators.subtract(x, _spread(centre, x), data_types.float32)
    return mean(operators.square(difference), axis, dtype or x.dtype, keepdims)


def _spread(column: NkiTensor, x: NkiTensor) -> NkiTensor:
    return _matched(x, column)[1]


def negative(x: NkiTensor, dtype: ElementType | None = None) -> NkiTensor:
    """-x, by a product with -1 (8.4, row 27)."""
    return operators.multiply(x, -1.0, dtype)


def cos(x: NkiTensor, dtype: ElementType | None = None) -> NkiTensor:
    """The cosine, for x in [-pi, pi / 2]: the sine of x + pi / 2, whose range is limited (3.6)."""
    made, bias = _result(x, dtype), ndarray((x.shape[0], 1), data_types.float32)
    nisa.memset(bias, math.pi / 2)
    nisa.activation(made, operators.sin, x, bias=bias)
    return made


def tan(x: NkiTensor, dtype: ElementType | None = None) -> NkiTensor:
    """The tangent, for x in [-pi, pi / 2]: sine by cosine (3.6)."""
    return _divide(operators.sin(x, data_types.float32), cos(x, data_types.float32), dtype or x.dtype)


def _rounding(name: str) -> Callable[..., NoReturn]:
    def refuse(x: NkiTensor, dtype: ElementType | None = None) -> NoReturn:
        raise KernelError(f"nl.{name} cannot work: no engine rounds other than to nearest even", "3.2")

    refuse.__name__, refuse.__doc__ = name, "Refused: conversions round to nearest even."
    return refuse


ceil, floor, trunc = _rounding("ceil"), _rounding("floor"), _rounding("trunc")


def transpose(x: NkiTensor, dtype: ElementType | None = None) -> NkiTensor:
    """The transpose of a tile [partitions, elements], in SBUF.

    At most [128, 128], by the Tensor engine and PSUM. Raises KernelError as nisa.nc_transpose (8.3).
    """
    between = ndarray((x.free_size, x.shape[0]), x.dtype, psum)
    nisa.nc_transpose(between, x, nisa.engine.tensor)
    made = _result(x, dtype, (x.free_size, x.shape[0]))
    nisa.tensor_copy(made, between)
    return made


def matmul(x: NkiTensor, y: NkiTensor, transpose_x: bool = False) -> NkiTensor:
    """x @ y, or x.T @ y, in PSUM.

    Tiles in SBUF: y [K, N], x [M, K], or [K, M] with `transpose_x`; the result [M, N] has the type float32. Raises KernelError as
    nisa.nc_matmul (4.1).
    """
    stationary = x if transpose_x else transpose(x)
    made = ndarray((stationary.free_size, y.free_size), data_types.float32, psum)
    nisa.nc_matmul(made, stationary, y)
    return made


def _all_free(name: str, x: NkiTensor, axis: Axes) -> None:
    if reduced_axes(axis, x.ndim)[0] != 1:
        raise KernelError(f"nl.{name}: axis {axis} of {x!r}; it works over all free dimensions: reshape the tile")


def softmax(x: NkiTensor, axis: Axes = -1, dtype: ElementType | None = None) -> NkiTensor:
    """exp(x - max) / sum over all free dimensions.

    `axis`: all free dimensions, with -1 of a tile [P, F]. Raises KernelError for others (8.4).
    """
    _all_free("softmax", x, axis)
    highest = ndarray((x.shape[0], 1), data_types.float32)
    nisa.tensor_reduce(highest, operators.maximum, x, tuple(range(1, x.ndim)), negate=True)
    powers, total = ndarray(x.shape, data_types.float32), ndarray((x.shape[0], 1), data_types.float32)
    nisa.activation_reduce(powers, operators.exp, x, operators.add, total, bias=highest)
    inverse = ndarray(total.shape, data_types.float32)
    nisa.reciprocal(inverse, total)
    return operators.multiply(powers, inverse, dtype or x.dtype)


def rms_norm(
    x: NkiTensor,
    w: NkiTensor,
    axis: Axes,
    n: int,
    epsilon: float = 1e-6,
    dtype: ElementType | None = None,
    compute_dtype: ElementType | None = None,
) -> NkiTensor:
    """x * rsqrt(sum(x * x) / n + epsilon) * w over all free dimensions.

    `w`: a tile [P, F], or with one element where x has several; `compute_dtype` has no effect: sums are in FP32. Raises
    KernelError for another `axis` than all free dimensions (8.4).
    """
    _all_free("rms_norm", x, axis)
    squares = ndarray(x.shape, data_types.float32)
    total, scale = (ndarray((x.shape[0], 1), data_types.float32) for _ in range(2))
    nisa.activation_reduce(squares, operators.square, x, operators.add, total)
    nisa.tensor_scalar(scale, total, operators.multiply, 1.0 / n, op1=operators.add, operand1=epsilon)
    nisa.activation(scale, operators.rsqrt, scale)
    made = _result(x, dtype)
    nisa.scalar_tensor_tensor(made, x, operators.multiply, scale, operators.multiply, _spread(w, x))
    return made


def where(condition: NkiTensor, x: Scalar, y: Scalar, dtype: ElementType | None = None) -> NkiTensor:
    """x where condition is not 0, else y.

    `condition`: a tile [P, F]; x and y: tiles [P, F] or numbers; two numbers make a float32 tile. Raises KernelError for a
    condition that is no tile, and as nisa.tensor_copy_predicated (8.4, row 25).
    """
    if not isinstance(condition, NkiTensor):
        raise KernelError(f"nl.where: condition must be a tile, such as nl.greater makes, not {type(condition).__name__}")
    like = x if isinstance(x, NkiTensor) else y if isinstance(y, NkiTensor) else None
    made = ndarray(condition.shape, dtype or data_types.float32) if like is None else _result(like, dtype)
    if isinstance(y, NkiTensor):
        nisa.tensor_copy(made, y)
    else:
        nisa.memset(made, y)
    source = x if not isinstance(x, NkiTensor) or x.dtype is made.dtype else operators.copy(x, made.dtype)
    if condition.dtype.kind != "unsigned":
        condition = operators.not_equal(condition, 0.0, data_types.uint8)
    nisa.tensor_copy_predicated(made, source, condition)
    return made


def dropout(x: NkiTensor, rate: Scalar, dtype: ElementType | None = None) -> NkiTensor:
    """x with elements set to 0 at the given rate, a number or a tile [P, 1] (8.4, row 46)."""
    made = _result(x, dtype)
    nisa.dropout(made, x, rate)
    return made


def gather_flattened(data: NkiTensor, indices: NkiTensor, axis: int = 0, dtype: ElementType | None = None) -> NkiTensor:
    """data[i] in each partition for the indices i, which count all its elements.

    `data` [P, F] and `indices` [P, N] of type uint32, in SBUF; the result has the shape of `indices`. Raises KernelError for
    another `axis` than 0, and as nisa.nc_n_gather (8.6, row 58).
    """
    if axis != 0:
        raise KernelError(f"nl.gather_flattened: axis must be 0, not {axis}")
    made = _result(data, dtype, indices.shape)
    nisa.nc_n_gather(made, data, indices)
    return made
