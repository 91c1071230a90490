# SPDX-License-Identifier: Apache-2.0
"""nki.isa: Functions of the Scalar engine, and the exponential of Vector."""
from __future__ import annotations

from typing import Any

from trn_nki.trace.instructions import Instruction
from trn_nki.trace.recording import record
from trn_nki.values import engines

__all__ = ["activation", "activation_reduce", "activate2", "exponential"]


def activation(
    dst: Any,
    op: Any,
    data: Any,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: Any = None,
    reduce_res: Any = None,
    reduce_cmd: Any = engines.reduce_cmd.idle,
    name: Any = None,
) -> Instruction:
    """dst = op(data * scale + bias); accumulates."""
    return record(
        "activation",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "op": op,
            "data": data,
            "bias": bias,
            "scale": scale,
            "reduce_op": reduce_op,
            "reduce_res": reduce_res,
            "reduce_cmd": reduce_cmd,
        },
    )


def activation_reduce(
    dst: Any, op: Any, data: Any, reduce_op: Any, reduce_res: Any, bias: Any = None, scale: Any = 1.0, name: Any = None
) -> Instruction:
    """activation that resets, accumulates and writes reduce_res."""
    return record(
        "activation_reduce",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "op": op,
            "data": data,
            "reduce_op": reduce_op,
            "reduce_res": reduce_res,
            "bias": bias,
            "scale": scale,
            "reduce_cmd": engines.reduce_cmd.reset_reduce,
        },
    )


def activate2(
    dst: Any,
    op: Any,
    data: Any,
    imm0: Any,
    imm1: Any,
    op0: Any,
    op1: Any,
    relu_param: Any = 0.0,
    reverse0: Any = False,
    reverse1: Any = False,
    reduce_op: Any = None,
    reduce_res: Any = None,
    reduce_cmd: Any = engines.reduce_cmd.idle,
    name: Any = None,
) -> Instruction:
    """dst = op((data op0 imm0) op1 imm1); accumulates."""
    return record(
        "activate2",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "op": op,
            "data": data,
            "imm0": imm0,
            "imm1": imm1,
            "op0": op0,
            "op1": op1,
            "relu_param": relu_param,
            "reverse0": reverse0,
            "reverse1": reverse1,
            "reduce_op": reduce_op,
            "reduce_res": reduce_res,
            "reduce_cmd": reduce_cmd,
        },
    )


def exponential(
    dst: Any,
    src: Any,
    max_value: Any = 0.0,
    reduce_res: Any = None,
    reduce_cmd: Any = engines.reduce_cmd.idle,
    reduce_init: Any = 0.0,
    name: Any = None,
) -> Instruction:
    """dst = exp(src - max_value); accumulates."""
    return record(
        "exponential",
        engines.engine.unknown,
        name,
        {"dst": dst, "src": src, "max_value": max_value, "reduce_res": reduce_res, "reduce_cmd": reduce_cmd, "reduce_init": reduce_init},
    )
