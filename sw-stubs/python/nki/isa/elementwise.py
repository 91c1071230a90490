# SPDX-License-Identifier: Apache-2.0
"""nki.isa: Element by element on the lanes."""
from __future__ import annotations

from typing import Any

from trn_nki.trace.instructions import Instruction
from trn_nki.trace.recording import record
from trn_nki.values import engines, operators

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


def tensor_copy(dst: Any, src: Any, engine: Any = engines.engine.unknown, name: Any = None) -> Instruction:
    """dst = src; bit-exact when the types agree."""
    return record("tensor_copy", engine, name, {"dst": dst, "src": src})


def memset(dst: Any, value: Any, engine: Any = engines.engine.unknown, name: Any = None) -> Instruction:
    """dst = value."""
    return record("memset", engine, name, {"dst": dst, "value": value})


def tensor_copy_predicated(dst: Any, src: Any, predicate: Any, reverse_pred: Any = False, name: Any = None) -> Instruction:
    """dst = src where predicate is not 0."""
    return record(
        "tensor_copy_predicated",
        engines.engine.unknown,
        name,
        {"dst": dst, "src": src, "predicate": predicate, "reverse_pred": reverse_pred},
    )


def tensor_tensor(dst: Any, data1: Any, data2: Any, op: Any, engine: Any = engines.engine.unknown, name: Any = None) -> Instruction:
    """dst = data1 op data2."""
    return record("tensor_tensor", engine, name, {"dst": dst, "data1": data1, "data2": data2, "op": op})


def tensor_scalar(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    reverse0: Any = False,
    op1: Any = None,
    operand1: Any = None,
    reverse1: Any = False,
    engine: Any = engines.engine.unknown,
    name: Any = None,
) -> Instruction:
    """dst = (data op0 operand0) op1 operand1."""
    return record(
        "tensor_scalar",
        engine,
        name,
        {
            "dst": dst,
            "data": data,
            "op0": op0,
            "operand0": operand0,
            "reverse0": reverse0,
            "op1": op1,
            "operand1": operand1,
            "reverse1": reverse1,
        },
    )


def scalar_tensor_tensor(
    dst: Any, data: Any, op0: Any, operand0: Any, op1: Any, operand1: Any, reverse0: Any = False, reverse1: Any = False, name: Any = None
) -> Instruction:
    """dst = (data op0 operand0) op1 operand1, where operand1 is a tile."""
    return record(
        "scalar_tensor_tensor",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "data": data,
            "op0": op0,
            "operand0": operand0,
            "op1": op1,
            "operand1": operand1,
            "reverse0": reverse0,
            "reverse1": reverse1,
        },
    )


def tensor_tensor_scan(
    dst: Any, data0: Any, data1: Any, initial: Any, op0: Any, op1: Any, reverse0: Any = False, reverse1: Any = False, name: Any = None
) -> Instruction:
    """r = (data0[i] op0 r) op1 data1[i]; dst[i] = r, from r = initial."""
    return record(
        "tensor_tensor_scan",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "data0": data0,
            "data1": data1,
            "initial": initial,
            "op0": op0,
            "op1": op1,
            "reverse0": reverse0,
            "reverse1": reverse1,
        },
    )


def tensor_scalar_cumulative(
    dst: Any, src: Any, op0: Any, op1: Any, imm0: Any, imm1: Any = None, reduce_cmd: Any = engines.reduce_cmd.reset_reduce, name: Any = None
) -> Instruction:
    """acc = (src[i] op0 imm0) op1 acc; dst[i] = acc."""
    return record(
        "tensor_scalar_cumulative",
        engines.engine.unknown,
        name,
        {"dst": dst, "src": src, "op0": op0, "op1": op1, "imm0": imm0, "imm1": imm1, "reduce_cmd": reduce_cmd},
    )


def reciprocal(dst: Any, data: Any, name: Any = None) -> Instruction:
    """dst = 1 / data."""
    return record("reciprocal", engines.engine.unknown, name, {"dst": dst, "data": data})


def dropout(dst: Any, data: Any, prob: Any, name: Any = None) -> Instruction:
    """dst = data, or 0 with the given probability."""
    return record("dropout", engines.engine.unknown, name, {"dst": dst, "data": data, "prob": prob})


def select_reduce(
    dst: Any,
    predicate: Any,
    on_true: Any,
    on_false: Any,
    reduce_res: Any = None,
    reduce_cmd: Any = engines.reduce_cmd.idle,
    reduce_op: Any = operators.maximum,
    reverse_pred: Any = False,
    name: Any = None,
) -> Instruction:
    """dst = on_true where predicate is not 0, else on_false; reduces."""
    return record(
        "select_reduce",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "predicate": predicate,
            "on_true": on_true,
            "on_false": on_false,
            "reduce_res": reduce_res,
            "reduce_cmd": reduce_cmd,
            "reduce_op": reduce_op,
            "reverse_pred": reverse_pred,
        },
    )


def range_select(
    dst: Any,
    on_true_tile: Any,
    comp_op0: Any,
    comp_op1: Any,
    bound0: Any,
    bound1: Any,
    reduce_cmd: Any = engines.reduce_cmd.reset_reduce,
    reduce_res: Any = None,
    reduce_op: Any = operators.maximum,
    range_start: Any = 0,
    on_false_value: Any = FP32_MIN,
    name: Any = None,
) -> Instruction:
    """dst = on_true_tile where the element's index fits the bounds, else the lowest FP32; reduces."""
    return record(
        "range_select",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "on_true_tile": on_true_tile,
            "comp_op0": comp_op0,
            "comp_op1": comp_op1,
            "bound0": bound0,
            "bound1": bound1,
            "reduce_cmd": reduce_cmd,
            "reduce_res": reduce_res,
            "reduce_op": reduce_op,
            "range_start": range_start,
            "on_false_value": on_false_value,
        },
    )


def affine_select(
    dst: Any,
    pattern: Any,
    channel_multiplier: Any,
    on_true_tile: Any,
    on_false_value: Any,
    cmp_op: Any = operators.equal,
    offset: Any = 0,
    name: Any = None,
) -> Instruction:
    """dst = on_true_tile where an affine function of the position compares with 0, else on_false_value."""
    return record(
        "affine_select",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "pattern": pattern,
            "channel_multiplier": channel_multiplier,
            "on_true_tile": on_true_tile,
            "on_false_value": on_false_value,
            "cmp_op": cmp_op,
            "offset": offset,
        },
    )


def iota(dst: Any, pattern: Any, offset: Any = 0, channel_multiplier: Any = 0, name: Any = None) -> Instruction:
    """dst = an affine function of the position."""
    return record(
        "iota", engines.engine.unknown, name, {"dst": dst, "pattern": pattern, "offset": offset, "channel_multiplier": channel_multiplier}
    )
