# SPDX-License-Identifier: Apache-2.0
"""nki.isa: Reductions, statistics, searches."""
from __future__ import annotations

from typing import Any

from trn_nki.trace.instructions import Instruction
from trn_nki.trace.recording import record
from trn_nki.values import engines

__all__ = [
    "tensor_reduce",
    "tensor_partition_reduce",
    "tensor_scalar_reduce",
    "bn_stats",
    "bn_aggr",
    "max8",
    "nc_find_index8",
    "nc_match_replace8",
    "topk",
    "sequence_bounds",
    "nonzero_with_count",
]


def tensor_reduce(dst: Any, op: Any, data: Any, axis: Any, negate: Any = False, keepdims: Any = False, name: Any = None) -> Instruction:
    """dst = op over the last free dimensions of data."""
    return record(
        "tensor_reduce",
        engines.engine.unknown,
        name,
        {"dst": dst, "op": op, "data": data, "axis": axis, "negate": negate, "keepdims": keepdims},
    )


def tensor_partition_reduce(dst: Any, op: Any, data: Any, name: Any = None) -> Instruction:
    """dst = op over the partitions of data."""
    return record("tensor_partition_reduce", engines.engine.unknown, name, {"dst": dst, "op": op, "data": data})


def tensor_scalar_reduce(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    reduce_op: Any,
    reduce_res: Any = None,
    reverse0: Any = False,
    reduce_cmd: Any = engines.reduce_cmd.reset_reduce,
    reduce_init: Any = None,
    reduce_res_negate: Any = False,
    name: Any = None,
) -> Instruction:
    """dst = data op0 operand0; accumulates with reduce_op."""
    return record(
        "tensor_scalar_reduce",
        engines.engine.unknown,
        name,
        {
            "dst": dst,
            "data": data,
            "op0": op0,
            "operand0": operand0,
            "reduce_op": reduce_op,
            "reduce_res": reduce_res,
            "reverse0": reverse0,
            "reduce_cmd": reduce_cmd,
            "reduce_init": reduce_init,
            "reduce_res_negate": reduce_res_negate,
        },
    )


def bn_stats(dst: Any, data: Any, name: Any = None) -> Instruction:
    """dst = count, mean, variance * count of the even and of the odd elements."""
    return record("bn_stats", engines.engine.unknown, name, {"dst": dst, "data": data})


def bn_aggr(dst: Any, data: Any, name: Any = None) -> Instruction:
    """dst = mean and variance of the triples in data."""
    return record("bn_aggr", engines.engine.unknown, name, {"dst": dst, "data": data})


def max8(dst: Any, src: Any, name: Any = None) -> Instruction:
    """dst = the eight largest elements, descending."""
    return record("max8", engines.engine.unknown, name, {"dst": dst, "src": src})


def nc_find_index8(dst: Any, data: Any, vals: Any, name: Any = None) -> Instruction:
    """dst = the indices of vals in data."""
    return record("nc_find_index8", engines.engine.unknown, name, {"dst": dst, "data": data, "vals": vals})


def nc_match_replace8(dst: Any, data: Any, vals: Any, imm: Any, dst_idx: Any = None, name: Any = None) -> Instruction:
    """dst = data with the elements that match vals replaced by imm."""
    return record(
        "nc_match_replace8", engines.engine.unknown, name, {"dst": dst, "data": data, "vals": vals, "imm": imm, "dst_idx": dst_idx}
    )


def topk(val_dst: Any, idx_dst: Any, src: Any, n: Any, name: Any = None) -> Instruction:
    """val_dst, idx_dst = the largest of n values and their indices, ascending."""
    return record("topk", engines.engine.unknown, name, {"val_dst": val_dst, "idx_dst": idx_dst, "src": src, "n": n})


def sequence_bounds(dst: Any, segment_ids: Any, name: Any = None) -> Instruction:
    """dst = start and end of the run of equal ids around each element."""
    return record("sequence_bounds", engines.engine.unknown, name, {"dst": dst, "segment_ids": segment_ids})


def nonzero_with_count(dst: Any, src: Any, index_offset: Any = 0, padding_val: Any = -1, name: Any = None) -> Instruction:
    """dst = the indices of the non-zero elements, and their number."""
    return record(
        "nonzero_with_count",
        engines.engine.unknown,
        name,
        {"dst": dst, "src": src, "index_offset": index_offset, "padding_val": padding_val},
    )
