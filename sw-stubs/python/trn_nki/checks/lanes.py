# SPDX-License-Identifier: Apache-2.0
"""Rules of the Vector, Scalar and GPSIMD engines (doc/spec/neuron-core.md, 8.4 to 8.6)."""
from __future__ import annotations

import math
from typing import Any

from trn_nki.checks import operands
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values import data_types as types
from trn_nki.values import operators as op
from trn_nki.values.engines import engine, reduce_cmd
from trn_nki.values.memory_regions import sbuf

_UNSIGNED = (types.uint8, types.uint16, types.uint32)
_NARROW = (types.int8, types.uint8, types.int16, types.uint16)
_INDEX = (types.uint16, types.uint32)
MAX_BN_STATS, MAX_FREE_MAX8 = 512, 16_384


def _pair(call: Any, dst: str = "dst", src: str = "src") -> tuple[NkiTensor, NkiTensor]:
    pair = operands.tile(call, dst), operands.tile(call, src)
    operands.same_size(call, dst, src)
    return pair


def _bitvec(call: Any, kinds: list[Any], tiles: tuple[str, ...]) -> None:
    """Both operators are of one kind; bitvec operators take integers of one size (3.2, 3.4)."""
    given = [one for one in kinds if one is not None and one.kind != "both"]
    if not any(one.is_bitvec for one in given):
        return
    if not all(one.is_bitvec for one in given):
        raise KernelError(f"nisa.{call.operation}: {' and '.join(map(repr, given))} are of different kinds; bitvec and "
                          "arithmetic operators do not mix", "3.4")
    if call.engine is not engine.vector:
        raise KernelError(f"nisa.{call.operation}: bitvec operators run on the Vector engine only", "3.4")
    for name in tiles:
        value = call.arguments.get(name)
        if isinstance(value, NkiTensor) and not value.dtype.is_integer:
            raise KernelError(f"nisa.{call.operation}: {name} is {value.dtype}; bitvec operators take integers", "3.2")


def _tensor_copy(call: Any) -> None:
    _pair(call)


def _memset(call: Any) -> None:
    dst = operands.tile(call, "dst")
    value = call.arguments["value"]
    if not hasattr(value, "__float__") or isinstance(value, NkiTensor):
        raise KernelError("nisa.memset: value must be a number", "8.4")
    if dst.dtype.is_packed and float(value) != 0:
        raise KernelError("nisa.memset: packed types take 0 only", "8.4")
    if dst.dtype.is_integer:
        call.arguments["value"] = _immediate(value, dst.dtype)


def _immediate(value: Any, dtype: types.DataType) -> int:
    """A number as the 32-bit immediate of an integer destination: to nearest even, saturated; NaN is 0."""
    number = value if isinstance(value, int) else float(value)
    if number != number:
        return 0
    return round(min(max(number, -2 ** 31), 2 ** 32 - 1 if dtype is types.uint32 else 2 ** 31 - 1))


def _tensor_copy_predicated(call: Any) -> None:
    _pair(call, "dst", "predicate")
    operands.one_of(call, "predicate", *_UNSIGNED)
    if isinstance(call.arguments["src"], NkiTensor):
        if call.arguments["src"].free_size != 1:
            _pair(call, "dst", "src")
        operands.same_type(call, "dst", "src")
        operands.not_both_psum(call, "src", "predicate")


def _tensor_tensor(call: Any) -> None:
    _pair(call, "dst", "data1")
    operands.tile(call, "data2")
    operands.same_size(call, "dst", "data2")
    operands.not_both_psum(call, "data1", "data2")
    chosen = operands.operator(call, "op")
    _bitvec(call, [chosen], ("dst", "data1", "data2"))
    if chosen is op.power and call.engine is not engine.gpsimd:
        raise KernelError("nisa.tensor_tensor: nl.power runs on GPSIMD only", "3.4")


def _tensor_scalar(call: Any) -> None:
    dst, _ = _pair(call, "dst", "data")
    first = operands.operator(call, "op0")
    second = operands.operator(call, "op1", optional=True)
    operands.scalar(call, "operand0", dst.shape[0])
    if second is not None and second is not op.bypass and second.operands == 2:
        if call.arguments["operand1"] is None:
            raise KernelError(f"nisa.tensor_scalar: op1={second!r} needs operand1", "8.4")
        operands.scalar(call, "operand1", dst.shape[0])
    _bitvec(call, [first, second], ("dst", "data", "operand0", "operand1"))
    if call.engine is engine.scalar and call.generation.number < 3:
        raise KernelError("nisa.tensor_scalar: the Scalar engine has it from NeuronCore-v3", "13")


def _scalar_tensor_tensor(call: Any) -> None:
    dst, _ = _pair(call, "dst", "data")
    operands.tile(call, "operand1")
    operands.same_size(call, "dst", "operand1")
    operands.not_both_psum(call, "data", "operand1")
    operands.scalar(call, "operand0", dst.shape[0])
    for name in ("op0", "op1"):
        if operands.operator(call, name).is_bitvec:
            raise KernelError("nisa.scalar_tensor_tensor takes arithmetic operators only", "8.4")


def reduced_axes(axis: Any, dimensions: int) -> tuple[int, ...]:
    """The reduced dimensions of a tensor_reduce, ascending. Raises KernelError."""
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    axes = tuple(sorted(one + dimensions if one < 0 else one for one in given))
    if not axes or axes != tuple(range(axes[0], dimensions)) or axes[0] < 1:
        raise KernelError(f"nisa.tensor_reduce: axis {axis} of {dimensions} dimensions; the last free dimensions are "
                          "reduced, without a gap", "8.4")
    return axes


def _tensor_reduce(call: Any) -> None:
    dst, data = operands.tile(call, "dst"), operands.tile(call, "data")
    axes = reduced_axes(call.arguments["axis"], data.ndim)
    chosen = operands.operator(call, "op")
    if chosen.start is None:
        raise KernelError(f"nisa.tensor_reduce: {chosen!r} does not reduce", "3.4")
    _bitvec(call, [chosen], ("dst", "data"))
    left = math.prod(data.shape[1:axes[0]])
    if dst.shape[0] != data.shape[0] or dst.free_size != left:
        raise KernelError(f"nisa.tensor_reduce: the result has {data.shape[0]} partitions and {left} elements in each; "
                          f"dst is {dst!r}", "8.4")


def _tensor_partition_reduce(call: Any) -> None:
    dst, data = operands.tile(call, "dst", sbuf), operands.tile(call, "data", sbuf)
    operands.operator(call, "op", op.add, op.average, op.maximum, op.bitwise_and, op.bitwise_or)
    if dst.shape[0] != 1 or dst.free_size != data.free_size:
        raise KernelError(f"nisa.tensor_partition_reduce: the result is [1, {data.free_size}]; dst is {dst!r}", "8.6")


def _accumulates(call: Any, partitions: int) -> None:
    operands.one_column(call, "reduce_res", partitions)
    command = call.arguments.get("reduce_cmd")
    if not isinstance(command, reduce_cmd):
        raise KernelError(f"nisa.{call.operation}: reduce_cmd must be one of nisa.reduce_cmd", "3.5")


def _tensor_scalar_reduce(call: Any) -> None:
    dst, _ = _pair(call, "dst", "data")
    operands.operator(call, "op0")
    operands.operator(call, "reduce_op", op.add, op.subtract, op.multiply, op.maximum, op.minimum)
    operands.scalar(call, "operand0", dst.shape[0])
    _accumulates(call, dst.shape[0])


def _tensor_scalar_cumulative(call: Any) -> None:
    dst, src = _pair(call)
    operands.operator(call, "op0")
    operands.operator(call, "op1", op.add, op.subtract, op.multiply, op.maximum, op.minimum)
    operands.scalar(call, "imm0", dst.shape[0])
    for tile in (dst, src):
        if tile.dtype in (types.int32, types.uint32):
            raise KernelError("nisa.tensor_scalar_cumulative takes no 32-bit integers", "8.4")


def _tensor_tensor_scan(call: Any) -> None:
    dst, _ = _pair(call, "dst", "data0")
    operands.tile(call, "data1")
    operands.same_size(call, "dst", "data1")
    operands.not_both_psum(call, "data0", "data1")
    operands.scalar(call, "initial", dst.shape[0])
    operands.operator(call, "op0")
    operands.operator(call, "op1")


def _activation(call: Any) -> None:
    dst, _ = _pair(call, "dst", "data")
    operands.activation_function(call, "op")
    operands.scalar(call, "scale", dst.shape[0])
    bias = call.arguments["bias"]
    if bias is not None:
        operands.scalar(call, "bias", dst.shape[0])
        if call.generation.number < 3 and not isinstance(bias, NkiTensor) and float(bias) != 0.0:
            raise KernelError(f"nisa.{call.operation}: a constant bias exists from NeuronCore-v3; v2 takes a tile", "4.3")
    operands.operator(call, "reduce_op", op.add, optional=True)
    _accumulates(call, dst.shape[0])


def _activate2(call: Any) -> None:
    dst, _ = _pair(call, "dst", "data")
    operands.activation_function(call, "op")
    operands.operator(call, "op0", op.multiply, op.add, op.subtract, op.bypass)
    operands.operator(call, "op1", op.add, op.subtract, op.bypass)
    operands.operator(call, "reduce_op", op.add, op.maximum, op.minimum, op.abs_max, op.abs_min, optional=True)
    _accumulates(call, dst.shape[0])


def _exponential(call: Any) -> None:
    dst, _ = _pair(call)
    operands.scalar(call, "max_value", dst.shape[0])
    _accumulates(call, dst.shape[0])


def _one_source(call: Any) -> None:
    _pair(call, "dst", "src" if "src" in call.arguments else "data")


def _pattern(call: Any, tile: NkiTensor) -> None:
    pattern = call.arguments["pattern"]
    if not 1 <= len(pattern) <= 4 or any(len(pair) != 2 for pair in pattern):
        raise KernelError(f"nisa.{call.operation}: pattern {pattern} must be one to four [step, count]", "7.5")
    count = math.prod(pair[1] for pair in pattern)
    if count != tile.free_size:
        raise KernelError(f"nisa.{call.operation}: pattern {pattern} makes {count} values for a partition; dst is "
                          f"{tile!r}", "7.5")


def _iota(call: Any) -> None:
    _pattern(call, operands.tile(call, "dst", sbuf))


def _affine_select(call: Any) -> None:
    operands.tile(call, "dst", sbuf)
    operands.tile(call, "on_true_tile", sbuf)
    operands.same_size(call, "dst", "on_true_tile")
    _pattern(call, call.arguments["dst"])
    operands.operator(call, "cmp_op", op.equal, op.not_equal, op.greater, op.greater_equal, op.less, op.less_equal)


def _range_select(call: Any) -> None:
    dst, _ = _pair(call, "dst", "on_true_tile")
    for name in ("comp_op0", "comp_op1"):
        operands.operator(call, name, op.equal, op.less, op.less_equal, op.greater, op.greater_equal)
    for name in ("bound0", "bound1"):
        operands.tile(call, name)
        operands.one_of(call, name, types.float32)
        operands.scalar(call, name, dst.shape[0])
    _accumulates(call, dst.shape[0])


def _select_reduce(call: Any) -> None:
    dst, _ = _pair(call, "dst", "on_true")
    operands.tile(call, "predicate")
    operands.same_size(call, "dst", "predicate")
    operands.one_of(call, "predicate", *_NARROW)
    operands.not_both_psum(call, "on_true", "predicate")
    operands.scalar(call, "on_false", dst.shape[0])
    operands.operator(call, "reduce_op", op.maximum)
    _accumulates(call, dst.shape[0])


def _bn_stats(call: Any) -> None:
    dst, data = operands.tile(call, "dst"), operands.tile(call, "data")
    if data.free_size > MAX_BN_STATS or dst.free_size != 6 or dst.shape[0] != data.shape[0]:
        raise KernelError(f"nisa.bn_stats: data has at most {MAX_BN_STATS} elements and dst 6; they are {data!r} and "
                          f"{dst!r}", "8.4")


def _bn_aggr(call: Any) -> None:
    dst, data = operands.tile(call, "dst"), operands.tile(call, "data")
    if data.free_size % 3 or dst.free_size != 2 or dst.shape[0] != data.shape[0]:
        raise KernelError(f"nisa.bn_aggr: data holds triples and dst 2 elements; they are {data!r} and {dst!r}", "8.4")


def _nc_stream_shuffle(call: Any) -> None:
    dst, src = operands.tile(call, "dst"), operands.tile(call, "src")
    mask = call.arguments["shuffle_mask"]
    if len(mask) != 32 or any(not (0 <= entry < 32 or entry == 255) for entry in mask):
        raise KernelError("nisa.nc_stream_shuffle: shuffle_mask has 32 entries of 0 to 31, or 255 to leave a partition",
                          "8.4")
    operands.same_type(call, "dst", "src")
    if dst.free_size != src.free_size:
        raise KernelError(f"nisa.nc_stream_shuffle: {dst!r} and {src!r} differ in elements per partition", "8.4")
    for partition in range(dst.shape[0]):
        entry, quadrant = mask[partition % 32], partition // 32 * 32
        if entry != 255 and quadrant + entry >= src.shape[0]:
            raise KernelError(f"nisa.nc_stream_shuffle: shuffle_mask[{partition % 32}] is {entry}: partition "
                              f"{quadrant + entry} of {src!r}, which has {src.shape[0]}", "8.4")


def _max8(call: Any) -> None:
    dst, src = operands.tile(call, "dst"), operands.tile(call, "src")
    if not 8 <= src.free_size <= MAX_FREE_MAX8 or dst.free_size != 8 or dst.shape[0] != src.shape[0]:
        raise KernelError(f"nisa.max8: src has 8 to {MAX_FREE_MAX8} elements and dst 8; they are {src!r} and {dst!r}",
                          "8.4")


def _nc_find_index8(call: Any) -> None:
    dst, vals = operands.tile(call, "dst"), operands.tile(call, "vals")
    operands.tile(call, "data")
    operands.one_of(call, "dst", *_INDEX)
    if dst.free_size != 8 or vals.free_size != 8:
        raise KernelError(f"nisa.nc_find_index8: dst and vals have 8 elements; they are {dst!r} and {vals!r}", "8.4")


def _nc_match_replace8(call: Any) -> None:
    _pair(call, "dst", "data")
    if operands.tile(call, "vals").free_size != 8:
        raise KernelError("nisa.nc_match_replace8: vals has 8 elements", "8.4")
    if operands.optional_tile(call, "dst_idx") is not None:
        operands.one_of(call, "dst_idx", *_INDEX)


def _local_gather(call: Any) -> None:
    src = operands.tile(call, "src_buffer", sbuf)
    operands.tile(call, "dst", sbuf)
    operands.tile(call, "index", sbuf)
    operands.one_of(call, "index", types.uint16)
    operands.same_type(call, "dst", "src_buffer")
    operands.multiple(call, "number of partitions", src.shape[0], 16, 128)


def _nc_n_gather(call: Any) -> None:
    operands.tile(call, "dst", sbuf)
    operands.tile(call, "data", sbuf)
    operands.tile(call, "indices", sbuf)
    operands.one_of(call, "indices", types.uint32)
    operands.same_size(call, "dst", "indices")


def _nonzero_with_count(call: Any) -> None:
    dst, src = operands.tile(call, "dst", sbuf), operands.tile(call, "src", sbuf)
    operands.one_of(call, "dst", types.int32)
    operands.one_of(call, "src", types.float32, types.int32)
    if dst.free_size != src.free_size + 1:
        raise KernelError(f"nisa.nonzero_with_count: dst has one element more than src; they are {dst!r} and {src!r}",
                          "8.6")


def _topk(call: Any) -> None:
    values, source, n = operands.tile(call, "val_dst"), operands.tile(call, "src"), call.arguments["n"]
    operands.tile(call, "idx_dst")
    operands.same_size(call, "val_dst", "idx_dst")
    if not 8 <= n < 65_536 or n > 16 * source.free_size:
        raise KernelError(f"nisa.topk: n is {n}; it must be 8 to 65535, and {source!r} has {16 * source.free_size} values "
                          "for each 16 partitions", "8.6")
    if values.free_size > n:
        raise KernelError(f"nisa.topk: {values!r} takes {values.free_size} of n = {n} values", "8.6")


def _tiles(call: Any) -> None:
    for name in ("dst", "data", "src", "segment_ids", "src_seeds", "val_dst", "idx_dst"):
        if name in call.arguments:
            operands.tile(call, name)


RULES = {
    "tensor_copy": _tensor_copy, "memset": _memset, "tensor_copy_predicated": _tensor_copy_predicated,
    "tensor_tensor": _tensor_tensor, "tensor_scalar": _tensor_scalar, "scalar_tensor_tensor": _scalar_tensor_tensor,
    "tensor_reduce": _tensor_reduce, "tensor_partition_reduce": _tensor_partition_reduce,
    "tensor_scalar_reduce": _tensor_scalar_reduce, "tensor_scalar_cumulative": _tensor_scalar_cumulative,
    "tensor_tensor_scan": _tensor_tensor_scan, "activation": _activation, "activation_reduce": _activation,
    "activate2": _activate2, "exponential": _exponential, "reciprocal": _one_source, "dropout": _one_source,
    "iota": _iota, "affine_select": _affine_select, "range_select": _range_select, "select_reduce": _select_reduce,
    "bn_stats": _bn_stats, "bn_aggr": _bn_aggr, "nc_stream_shuffle": _nc_stream_shuffle, "max8": _max8,
    "nc_find_index8": _nc_find_index8, "nc_match_replace8": _nc_match_replace8, "local_gather": _local_gather,
    "nc_n_gather": _nc_n_gather, "nonzero_with_count": _nonzero_with_count,
    "rng": _tiles, "rand2": _tiles, "set_rng_seed": _tiles, "rand_set_state": _tiles, "rand_get_state": _tiles,
    "sequence_bounds": _tiles, "topk": _topk,
}
