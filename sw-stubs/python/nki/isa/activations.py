# SPDX-License-Identifier: Apache-2.0
"""nki.isa: Functions of the Scalar engine, and the exponential of Vector."""
from __future__ import annotations

from typing import TYPE_CHECKING

from trn_nki.trace.recording import record
from trn_nki.values import engines

if TYPE_CHECKING:
    from trn_nki.tensors.tensor import NkiTensor
    from trn_nki.tensors.argument_types import Scalar
    from trn_nki.trace.instructions import Instruction
    from trn_nki.values.operators import Operator

__all__ = ["activation", "activation_reduce", "activate2", "exponential"]


def activation(
    dst: NkiTensor,
    op: Operator,
    data: NkiTensor,
    bias: Scalar | None = None,
    scale: Scalar = 1.0,
    reduce_op: Operator | None = None,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: engines.reduce_cmd = engines.reduce_cmd.idle,
    name: str | None = None,
) -> Instruction:
    """dst = op(data * scale + bias); accumulates.

    `dst` and `data`: tiles [P, F]; `op`: an activation function (3.6); `scale`: a number, or a float32 tile [P, 1]; `bias`: a
    tile [P, 1], not of type tfloat32, or from NeuronCore-v3 a number (4.3). `reduce_op`: None or nl.add, which `reduce_cmd`
    applies to Scalar's accumulators; `reduce_res` [P, 1] receives them (3.5). load_reduce is refused. Specification: 8.5, row 52.
    """
    return record("activation", locals())


def activation_reduce(
    dst: NkiTensor,
    op: Operator,
    data: NkiTensor,
    reduce_op: Operator,
    reduce_res: NkiTensor,
    bias: Scalar | None = None,
    scale: Scalar = 1.0,
    name: str | None = None,
) -> Instruction:
    """activation that resets, accumulates and writes reduce_res.

    Arguments: those of `activation`; `reduce_cmd` is reset_reduce. Specification: 8.5, row 52; 3.5.
    """
    return record("activation_reduce", locals() | {"reduce_cmd": engines.reduce_cmd.reset_reduce})


def activate2(
    dst: NkiTensor,
    op: Operator,
    data: NkiTensor,
    imm0: Scalar | None,
    imm1: Scalar | None,
    op0: Operator | None,
    op1: Operator | None,
    relu_param: Scalar = 0.0,
    reverse0: bool = False,
    reverse1: bool = False,
    reduce_op: Operator | None = None,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: engines.reduce_cmd = engines.reduce_cmd.idle,
    name: str | None = None,
) -> Instruction:
    """dst = op((data op0 imm0) op1 imm1); accumulates.

    `dst` and `data`: tiles [P, F]; `op`: an activation function (3.6). (`op0`, `op1`) is one of the pairs of 8.5, row 53, where
    None is nl.bypass, whose operand is ignored; `reverse0` and `reverse1` exchange the operands of each. `relu_param`: the slope
    of nl.prelu, a tile [P, 1] or 0. `reduce_op`: None, nl.add, nl.maximum, nl.minimum, nl.abs_max or nl.abs_min;
    `reduce_res` [P, 1] receives the accumulators (3.5). From NeuronCore-v4.
    """
    return record("activate2", locals())


def exponential(
    dst: NkiTensor,
    src: NkiTensor,
    max_value: Scalar = 0.0,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: engines.reduce_cmd = engines.reduce_cmd.idle,
    reduce_init: Scalar = 0.0,
    name: str | None = None,
) -> Instruction:
    """dst = exp(src - max_value); accumulates.

    `dst` and `src`: tiles [P, F]. Vector's accumulators add the results, with load_reduce starting from `reduce_init`;
    `reduce_res` [P, 1] receives them (3.5). From NeuronCore-v4. Specification: 8.4, row 37.
    """
    return record("exponential", locals())
