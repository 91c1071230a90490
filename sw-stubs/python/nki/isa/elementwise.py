# SPDX-License-Identifier: Apache-2.0
"""nki.isa: Element by element on the lanes."""
from __future__ import annotations

from typing import TYPE_CHECKING

from trn_nki.trace.recording import record
from trn_nki.values import engines, operators

if TYPE_CHECKING:
    from trn_nki.tensors.tensor import NkiTensor
    from trn_nki.tensors.argument_types import DataPattern, Engine, Number, Scalar
    from trn_nki.trace.instructions import Instruction
    from trn_nki.values.operators import Operator

FP32_MIN = -3.4028234663852886e38

__all__ = [
    "tensor_copy",
    "memset",
    "tensor_copy_predicated",
    "tensor_tensor",
    "tensor_scalar",
    "scalar_tensor_tensor",
    "tensor_tensor_scan",
    "tensor_scalar_cumulative",
    "reciprocal",
    "dropout",
    "select_reduce",
    "range_select",
    "affine_select",
    "iota",
]


def tensor_copy(dst: NkiTensor, src: NkiTensor, engine: Engine = engines.engine.unknown, name: str | None = None) -> Instruction:
    """dst = src; bit-exact when the types agree.

    Tiles [P, F]; types that no engine converts must agree (3.1). Specification: 8.4, row 23.
    """
    return record("tensor_copy", locals())


def memset(dst: NkiTensor, value: Number, engine: Engine = engines.engine.unknown, name: str | None = None) -> Instruction:
    """dst = value.

    A tile; for an integer type `value` is rounded to nearest even and saturated, a packed type takes 0 only.
    Specification: 8.4, row 24.
    """
    return record("memset", locals())


def tensor_copy_predicated(
    dst: NkiTensor, src: Scalar, predicate: NkiTensor, reverse_pred: bool = False, name: str | None = None
) -> Instruction:
    """dst = src where predicate is not 0.

    `dst` and `predicate`: tiles [P, F], `predicate` of type uint8, uint16 or uint32; `src`: a tile [P, F] or [P, 1] of the type
    of `dst`, or a number; not in PSUM together with `predicate`. `reverse_pred`: where predicate is 0. Other elements keep their
    values. Specification: 8.4, row 25.
    """
    return record("tensor_copy_predicated", locals())


def tensor_tensor(
    dst: NkiTensor,
    data1: NkiTensor,
    data2: NkiTensor,
    op: Operator,
    engine: Engine = engines.engine.unknown,
    name: str | None = None,
) -> Instruction:
    """dst = data1 op data2.

    Tiles [P, F]; data1 and data2 not both in PSUM. `op`: an ALU operator (3.4); a bitvec operator takes integers of one size,
    nl.power and exact 32-bit integers run on GPSIMD. Specification: 8.4, row 26.
    """
    return record("tensor_tensor", locals())


def tensor_scalar(
    dst: NkiTensor,
    data: NkiTensor,
    op0: Operator,
    operand0: Scalar | None,
    reverse0: bool = False,
    op1: Operator | None = None,
    operand1: Scalar | None = None,
    reverse1: bool = False,
    engine: Engine = engines.engine.unknown,
    name: str | None = None,
) -> Instruction:
    """dst = (data op0 operand0) op1 operand1.

    `dst` and `data`: tiles [P, F]; operands: numbers or tiles [P, 1], None for an operator that has no second operand. Operators
    of one kind (3.4); a bitvec operator takes integers. `reverse0` and `reverse1` exchange the operands of each. Scalar has the
    pairs of row 27 from NeuronCore-v3, GPSIMD has nl.rsqrt and nl.power. Specification: 8.4, row 27.
    """
    return record("tensor_scalar", locals())


def scalar_tensor_tensor(
    dst: NkiTensor,
    data: NkiTensor,
    op0: Operator,
    operand0: Scalar | None,
    op1: Operator,
    operand1: NkiTensor,
    reverse0: bool = False,
    reverse1: bool = False,
    name: str | None = None,
) -> Instruction:
    """dst = (data op0 operand0) op1 operand1, where operand1 is a tile.

    `dst`, `data` and `operand1`: tiles [P, F], `data` and `operand1` not both in PSUM; `operand0`: a number or a tile [P, 1].
    Arithmetic operators only (3.4). Specification: 8.4, row 28.
    """
    return record("scalar_tensor_tensor", locals())


def tensor_tensor_scan(
    dst: NkiTensor,
    data0: NkiTensor,
    data1: NkiTensor,
    initial: Scalar,
    op0: Operator,
    op1: Operator,
    reverse0: bool = False,
    reverse1: bool = False,
    name: str | None = None,
) -> Instruction:
    """r = (data0[i] op0 r) op1 data1[i]; dst[i] = r, from r = initial.

    Tiles [P, F], data0 and data1 not both in PSUM; `initial`: a number or a tile [P, 1]. Arithmetic operators only (3.4);
    `reverse0` and `reverse1` exchange the operands of each. Specification: 8.4, row 32.
    """
    return record("tensor_tensor_scan", locals())


def tensor_scalar_cumulative(
    dst: NkiTensor,
    src: NkiTensor,
    op0: Operator,
    op1: Operator,
    imm0: Scalar | None,
    imm1: Scalar | None = None,
    reduce_cmd: engines.reduce_cmd = engines.reduce_cmd.reset_reduce,
    name: str | None = None,
) -> Instruction:
    """acc = (src[i] op0 imm0) op1 acc; dst[i] = acc.

    Tiles [P, F] without 32-bit integers. `op1`: nl.add, nl.subtract, nl.multiply, nl.maximum or nl.minimum; `reduce_cmd`: reduce,
    reset_reduce, or load_reduce, which starts from `imm1` (3.5). Specification: 8.4, row 31.
    """
    return record("tensor_scalar_cumulative", locals())


def reciprocal(dst: NkiTensor, data: NkiTensor, name: str | None = None) -> Instruction:
    """dst = 1 / data.

    Tiles [P, F]. Specification: 8.4, row 36.
    """
    return record("reciprocal", locals())


def dropout(dst: NkiTensor, data: NkiTensor, prob: Scalar, name: str | None = None) -> Instruction:
    """dst = data, or 0 with the given probability.

    Tiles [P, F]; `prob`: a number or a tile [P, 1]. Specification: 8.4, row 46; 3.8.
    """
    return record("dropout", locals())


def select_reduce(
    dst: NkiTensor,
    predicate: NkiTensor,
    on_true: NkiTensor,
    on_false: Scalar,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: engines.reduce_cmd = engines.reduce_cmd.idle,
    reduce_op: Operator = operators.maximum,
    reverse_pred: bool = False,
    name: str | None = None,
) -> Instruction:
    """dst = on_true where predicate is not 0, else on_false; reduces.

    `dst`, `predicate` and `on_true`: tiles [P, F], `predicate` of 8- or 16-bit integers and not in PSUM together with `on_true`;
    `on_false`: a number or a tile [P, 1]. Vector's accumulators take the largest result; `reduce_res` [P, 1] receives them
    (3.5). load_reduce is refused. `reverse_pred`: on_true where predicate is 0. Specification: 8.4, row 45.
    """
    return record("select_reduce", locals())


def range_select(
    dst: NkiTensor,
    on_true_tile: NkiTensor,
    comp_op0: Operator,
    comp_op1: Operator,
    bound0: NkiTensor,
    bound1: NkiTensor,
    reduce_cmd: engines.reduce_cmd = engines.reduce_cmd.reset_reduce,
    reduce_res: NkiTensor | None = None,
    reduce_op: Operator = operators.maximum,
    range_start: int = 0,
    on_false_value: float = FP32_MIN,
    name: str | None = None,
) -> Instruction:
    """dst = on_true_tile where the element's index fits the bounds, else the lowest FP32; reduces.

    `dst` and `on_true_tile`: tiles [P, F]; bounds: float32 tiles [P, 1], compared with `range_start` + index by nl.equal,
    nl.less, nl.less_equal, nl.greater or nl.greater_equal. `on_false_value` has no effect. Vector's accumulators take the
    largest result; `reduce_res` [P, 1] receives them (3.5). From NeuronCore-v3. Specification: 8.4, row 44.
    """
    return record("range_select", locals())


def affine_select(
    dst: NkiTensor,
    pattern: DataPattern,
    channel_multiplier: int,
    on_true_tile: NkiTensor,
    on_false_value: Scalar,
    cmp_op: Operator = operators.equal,
    offset: int = 0,
    name: str | None = None,
) -> Instruction:
    """dst = on_true_tile where an affine function of the position compares with 0, else on_false_value.

    `dst` and `on_true_tile`: tiles [P, F] in SBUF. The function is that of `iota`; `cmp_op`: one of the six comparisons.
    Specification: 8.6, row 56; 7.5.
    """
    return record("affine_select", locals())


def iota(dst: NkiTensor, pattern: DataPattern, offset: int = 0, channel_multiplier: int = 0, name: str | None = None) -> Instruction:
    """dst = an affine function of the position.

    A tile [P, F] in SBUF. Element i of partition p is offset + channel_multiplier * p + the sum of step * index over the
    dimensions [step, count] of `pattern`, whose counts multiply to F, in 32-bit arithmetic. Specification: 8.6, row 55; 7.5.
    """
    return record("iota", locals())
