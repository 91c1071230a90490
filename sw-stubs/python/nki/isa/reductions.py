# SPDX-License-Identifier: Apache-2.0
"""nki.isa: Reductions, statistics, searches."""
from __future__ import annotations

from typing import TYPE_CHECKING

from trn_nki.trace.recording import record
from trn_nki.values import engines

if TYPE_CHECKING:
    from trn_nki.tensors.tensor import NkiTensor
    from trn_nki.tensors.argument_types import Axes, Number, Scalar
    from trn_nki.trace.instructions import Instruction
    from trn_nki.values.operators import Operator

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


def tensor_reduce(
    dst: NkiTensor,
    op: Operator,
    data: NkiTensor,
    axis: Axes,
    negate: bool = False,
    keepdims: bool = False,
    name: str | None = None,
) -> Instruction:
    """dst = op over the last free dimensions of data.

    Tiles; `axis`: the last free dimensions, without a gap; `dst` has an element for each index of the others. `op`: an
    arithmetic, logical or bitwise operator with a start value; `negate` multiplies by -1, not with bitwise operators; `keepdims` has no
    effect.
    Specification: 8.4, row 29; 3.5.
    """
    return record("tensor_reduce", locals())


def tensor_partition_reduce(dst: NkiTensor, op: Operator, data: NkiTensor, name: str | None = None) -> Instruction:
    """dst = op over the partitions of data.

    `data` [P, F] and `dst` [1, F] in SBUF; `op`: nl.add, nl.average, nl.maximum, nl.bitwise_and or nl.bitwise_or.
    Specification: 8.6, row 59.
    """
    return record("tensor_partition_reduce", locals())


def tensor_scalar_reduce(
    dst: NkiTensor,
    data: NkiTensor,
    op0: Operator,
    operand0: Scalar | None,
    reduce_op: Operator,
    reduce_res: NkiTensor | None = None,
    reverse0: bool = False,
    reduce_cmd: engines.reduce_cmd = engines.reduce_cmd.reset_reduce,
    reduce_init: Scalar | None = None,
    reduce_res_negate: bool = False,
    name: str | None = None,
) -> Instruction:
    """dst = data op0 operand0; accumulates with reduce_op.

    `dst` and `data`: tiles [P, F]; `op0`: an arithmetic operator (3.4); `operand0`: a number or a tile [P, 1]. `reduce_op`:
    nl.add, nl.multiply, nl.maximum or nl.minimum, with load_reduce starting from `reduce_init`. `reduce_res` [P, 1] receives
    Vector's accumulators, times -1 with `reduce_res_negate` (3.5). Specification: 8.4, row 30.
    """
    return record("tensor_scalar_reduce", locals())


def bn_stats(dst: NkiTensor, data: NkiTensor, name: str | None = None) -> Instruction:
    """dst = count, mean, variance * count of the even and of the odd elements.

    `data` [P, F], F at most 512; `dst` [P, 6]. Specification: 8.4, row 38.
    """
    return record("bn_stats", locals())


def bn_aggr(dst: NkiTensor, data: NkiTensor, name: str | None = None) -> Instruction:
    """dst = mean and variance of the triples in data.

    `data` [P, 3 n], triples as `bn_stats` makes them; `dst` [P, 2]. Specification: 8.4, row 39.
    """
    return record("bn_aggr", locals())


def max8(dst: NkiTensor, src: NkiTensor, name: str | None = None) -> Instruction:
    """dst = the eight largest elements, descending.

    `src` [P, F], F 8 to 16,384; `dst` [P, 8]. Specification: 8.4, row 40.
    """
    return record("max8", locals())


def nc_find_index8(dst: NkiTensor, data: NkiTensor, vals: NkiTensor, name: str | None = None) -> Instruction:
    """dst = the indices of vals in data.

    `data` [P, F], `vals` [P, 8], `dst` [P, 8] of type uint16 or uint32: the first equal element that no earlier value took; all
    ones without one. Specification: 8.4, rows 41 and 42.
    """
    return record("nc_find_index8", locals())


def nc_match_replace8(
    dst: NkiTensor, data: NkiTensor, vals: NkiTensor, imm: Number, dst_idx: NkiTensor | None = None, name: str | None = None
) -> Instruction:
    """dst = data with the elements that match vals replaced by imm.

    `dst` and `data`: tiles [P, F], `vals` [P, 8]; `dst_idx` [P, 8] of type uint16 or uint32 receives the indices.
    Specification: 8.4, rows 41 and 43.
    """
    return record("nc_match_replace8", locals())


def topk(val_dst: NkiTensor, idx_dst: NkiTensor, src: NkiTensor, n: int, name: str | None = None) -> Instruction:
    """val_dst, idx_dst = the largest of n values and their indices, ascending.

    `src` [P, X] and `val_dst` [P, K] of type bfloat16, `idx_dst` [P, K] of type uint32; P is a multiple of 16, n is 8 to 65,535
    and at most 16 X, K at most n. Specification: 8.6, row 62.
    """
    return record("topk", locals())


def sequence_bounds(dst: NkiTensor, segment_ids: NkiTensor, name: str | None = None) -> Instruction:
    """dst = start and end of the run of equal ids around each element.

    `segment_ids` [1, n] and `dst` [1, 2, n] in SBUF, of types float32 or int32. Specification: 8.6, row 60.
    """
    return record("sequence_bounds", locals())


def nonzero_with_count(
    dst: NkiTensor, src: NkiTensor, index_offset: int = 0, padding_val: int = -1, name: str | None = None
) -> Instruction:
    """dst = the indices of the non-zero elements, and their number.

    `src` [P, T] of type float32 or int32 and `dst` [P, T + 1] of type int32 in SBUF; only partitions 0, 16, 32, ... are written:
    indices plus `index_offset`, then `padding_val`, last the number. From NeuronCore-v3. Specification: 8.6, row 61.
    """
    return record("nonzero_with_count", locals())
