# SPDX-License-Identifier: Apache-2.0
"""Rules of the Vector, Scalar and GPSIMD engines (doc/spec/neuron-core.md, 8.4 to 8.6)."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

from trn_nki.checks import operands, operators
from trn_nki.checks.call import Call
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor, has_kind
from trn_nki.values import data_types as types
from trn_nki.values import operators as op
from trn_nki.values.engines import engine, reduce_cmd
from trn_nki.values.memory_regions import sbuf

if TYPE_CHECKING:
    from trn_nki.tensors.argument_types import Axes, Number, Scalar

_UNSIGNED = (types.uint8, types.uint16, types.uint32)
_NARROW = (types.int8, types.uint8, types.int16, types.uint16)
_INDEX = (types.uint16, types.uint32)
MAX_BN_STATS, MAX_FREE_MAX8, MAX_LOCAL_INDICES = 512, 16_384, 4_096


def _pair(call: Call, dst: str = "dst", src: str = "src") -> tuple[NkiTensor, NkiTensor]:
    pair = operands.tile(call, dst), operands.tile(call, src)
    operands.same_size(call, dst, src)
    return pair


def _tensor_copy(call: Call) -> None:
    dst, src = _pair(call)
    if dst.dtype is not src.dtype and not (types.is_computed(dst.dtype) and types.is_computed(src.dtype)):
        raise KernelError(f"nisa.tensor_copy: dst is {dst.dtype} and src is {src.dtype}, which no engine converts", "3.1")


def _memset(call: Call) -> None:
    dst = operands.tile(call, "dst")
    value = call.arguments["value"]
    if not hasattr(value, "__float__") or isinstance(value, NkiTensor):
        raise KernelError("nisa.memset: value must be a number", "8.4")
    if dst.dtype.is_packed and float(value) != 0:
        raise KernelError("nisa.memset: packed types take 0 only", "8.4")
    if not types.is_computed(dst.dtype) and not dst.dtype.is_packed:
        raise KernelError(f"nisa.memset: no engine sets elements of {dst.dtype}", "8.4")
    if dst.dtype.is_integer:
        call.arguments["value"] = _immediate(value, dst.dtype)


def _immediate(value: Number, dtype: types.DataType) -> int:
    """A number as the 32-bit immediate of an integer destination: to nearest even, saturated; NaN is 0."""
    number = value if isinstance(value, int) else float(value)
    if number != number:
        return 0
    return round(min(max(number, -(2**31)), 2**32 - 1 if dtype is types.uint32 else 2**31 - 1))


def _tensor_copy_predicated(call: Call) -> None:
    _pair(call, "dst", "predicate")
    operands.one_of(call, "predicate", *_UNSIGNED)
    if not isinstance(call.arguments["src"], NkiTensor):
        operands.number(call, "src")
        if not types.is_computed(call.arguments["dst"].dtype):
            raise KernelError(f"nisa.tensor_copy_predicated: a number is no element of {call.arguments['dst']!r}", "8.4")
    else:
        src = call.arguments["src"]
        if src.free_size != 1 or has_kind(src, "column"):
            _pair(call, "dst", "src")
        else:  # one element for each partition
            operands.scalar(call, "src", call.arguments["dst"].shape[0])
        operands.same_type(call, "dst", "src")
        operands.not_both_psum(call, "src", "predicate")


def _tensor_tensor(call: Call) -> None:
    _pair(call, "dst", "data1")
    operands.tile(call, "data2")
    operands.same_size(call, "dst", "data2")
    operands.not_both_psum(call, "data1", "data2")
    operators.bitvec(call, (operators.lane(call, "op"),), ("dst", "data1", "data2"))


def _tensor_scalar(call: Call) -> None:
    dst, _ = _pair(call, "dst", "data")
    if call.engine is engine.scalar and call.generation.number < 3:
        raise KernelError("nisa.tensor_scalar: the Scalar engine has it from NeuronCore-v3", "13")
    first, second = operators.pair(call, "op0", "op1")
    _operand(call, "operand0", first, dst.shape[0])
    _operand(call, "operand1", second, dst.shape[0])
    operators.bitvec(call, (first, second), ("dst", "data"), ("operand0", "operand1"))


def _operand(call: Call, name: str, operator: op.Operator, partitions: int) -> None:
    """The scalar operand of an operator; unary operators and bypass ignore theirs, which becomes None (3.4)."""
    if operator.ignores_b:
        call.arguments[name] = None
    elif call.arguments[name] is None:
        raise KernelError(f"nisa.{call.operation}: {operator!r} needs {name}", "8.4")
    else:
        operands.scalar(call, name, partitions)


def _scalar_tensor_tensor(call: Call) -> None:
    dst, _ = _pair(call, "dst", "data")
    operands.tile(call, "operand1")
    operands.same_size(call, "dst", "operand1")
    operands.not_both_psum(call, "data", "operand1")
    _operand(call, "operand0", operators.lane(call, "op0", arithmetic=True), dst.shape[0])
    operators.lane(call, "op1", arithmetic=True)


def reduced_axes(axis: Axes, dimensions: int) -> tuple[int, ...]:
    """The reduced dimensions of a tensor_reduce, ascending. Raises KernelError."""
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    axes = tuple(sorted(dimension + dimensions if dimension < 0 else dimension for dimension in given))
    if not axes or axes != tuple(range(axes[0], dimensions)) or axes[0] < 1:
        advice = "; over partitions: nisa.tensor_partition_reduce, or a product with a tile of ones" if 0 in axes else ""
        raise KernelError(
            f"nisa.tensor_reduce: axis {axis} of {dimensions} dimensions; the last free dimensions are reduced, without a gap{advice}",
            "8.4",
        )
    return axes


def _tensor_reduce(call: Call) -> None:
    dst, data = operands.tile(call, "dst"), operands.tile(call, "data")
    axes = reduced_axes(call.arguments["axis"], data.ndim)
    chosen = operands.operator(call, "op", *operators.REDUCTIONS)
    operators.bitvec(call, (chosen,), ("dst", "data"))
    if call.arguments["negate"] and chosen.is_bitvec:
        raise KernelError(f"nisa.tensor_reduce: negate multiplies by -1, which {chosen!r} does not do", "8.4")
    left = math.prod(data.shape[1 : axes[0]])
    if dst.shape[0] != data.shape[0] or dst.free_size != left:
        raise KernelError(
            f"nisa.tensor_reduce: the result has {data.shape[0]} partitions and {left} elements in each; dst is {dst!r}", "8.4"
        )


def _tensor_partition_reduce(call: Call) -> None:
    dst, data = operands.tile(call, "dst", sbuf), operands.tile(call, "data", sbuf)
    chosen = operands.operator(call, "op", op.add, op.average, op.maximum, op.bitwise_and, op.bitwise_or)
    operators.bitvec(call, (chosen,), ("dst", "data"))
    if dst.shape[0] != 1 or dst.free_size != data.free_size:
        raise KernelError(f"nisa.tensor_partition_reduce: the result is [1, {data.free_size}]; dst is {dst!r}", "8.6")


def _accumulates(call: Call, partitions: int, *refused: reduce_cmd, initial: str = "") -> None:
    """`initial`: name of the operand of load_reduce; an instruction without one has no load_reduce."""
    operands.one_column(call, "reduce_res", partitions)
    command = call.arguments.get("reduce_cmd")
    if not isinstance(command, reduce_cmd):
        raise KernelError(f"nisa.{call.operation}: reduce_cmd must be one of nisa.reduce_cmd", "3.5")
    if command in refused or (command is reduce_cmd.load_reduce and not initial):
        raise KernelError(f"nisa.{call.operation}: reduce_cmd must not be {command.name}", "8.4")
    if command is reduce_cmd.load_reduce:
        if call.arguments[initial] is None:
            raise KernelError(f"nisa.{call.operation}: load_reduce needs {initial}", "3.5")
        operands.scalar(call, initial, partitions)


def _tensor_scalar_reduce(call: Call) -> None:
    dst, _ = _pair(call, "dst", "data")
    _operand(call, "operand0", operators.lane(call, "op0", arithmetic=True), dst.shape[0])
    operands.operator(call, "reduce_op", op.add, op.multiply, op.maximum, op.minimum)
    _accumulates(call, dst.shape[0], initial="reduce_init")


def _tensor_scalar_cumulative(call: Call) -> None:
    dst, src = _pair(call)
    _operand(call, "imm0", operators.lane(call, "op0", arithmetic=True), dst.shape[0])
    operands.operator(call, "op1", *operators.SUMS)
    _accumulates(call, dst.shape[0], reduce_cmd.idle, reduce_cmd.reset, initial="imm1")
    for tile in (dst, src):
        if tile.dtype in (types.int32, types.uint32):
            raise KernelError("nisa.tensor_scalar_cumulative takes no 32-bit integers", "8.4")


def _tensor_tensor_scan(call: Call) -> None:
    dst, _ = _pair(call, "dst", "data0")
    operands.tile(call, "data1")
    operands.same_size(call, "dst", "data1")
    operands.not_both_psum(call, "data0", "data1")
    operands.scalar(call, "initial", dst.shape[0])
    for name in ("op0", "op1"):
        operators.lane(call, name, arithmetic=True)


def _activation(call: Call) -> None:
    dst, _ = _pair(call, "dst", "data")
    operands.activation_function(call, "op")
    if isinstance(operands.scalar(call, "scale", dst.shape[0]), NkiTensor):
        operands.one_of(call, "scale", types.float32)
    if call.arguments["bias"] is not None:
        _bias(call, operands.scalar(call, "bias", dst.shape[0]))
    _reduction(call, op.add)
    _accumulates(call, dst.shape[0])


def _reduction(call: Call, *allowed: op.Operator) -> None:
    """The operator of accumulators, which may be None."""
    if call.arguments["reduce_op"] is not None:
        operands.operator(call, "reduce_op", *allowed)


def _bias(call: Call, bias: Scalar | None) -> None:
    if isinstance(bias, NkiTensor):
        if bias.dtype is types.tfloat32:
            raise KernelError(f"nisa.{call.operation}: bias must not be tfloat32", "4.3")
    elif bias is not None and call.generation.number < 3:
        if float(bias) != 0.0:
            raise KernelError(f"nisa.{call.operation}: a constant bias exists from NeuronCore-v3; v2 takes a tile", "4.3")
        call.arguments["bias"] = None
    if call.generation.number < 3 and call.arguments["op"] is op.reciprocal and call.arguments["bias"] is not None:
        raise KernelError(f"nisa.{call.operation}: nl.reciprocal has no bias on NeuronCore-v2", "3.6")


def _activate2(call: Call) -> None:
    dst, _ = _pair(call, "dst", "data")
    operands.activation_function(call, "op")
    for name, chosen in zip(("imm0", "imm1"), operators.of_activate2(call)):
        _operand(call, name, chosen, dst.shape[0])
    _relu_parameter(call, dst.shape[0])
    _reduction(call, op.add, op.maximum, op.minimum, op.abs_max, op.abs_min)
    _accumulates(call, dst.shape[0])


def _relu_parameter(call: Call, partitions: int) -> None:
    """The slope of nl.prelu; other functions ignore it."""
    parameter = call.arguments["relu_param"]
    if call.arguments["op"] is not op.prelu:
        call.arguments["relu_param"] = 0.0
    elif isinstance(parameter, NkiTensor):
        operands.scalar(call, "relu_param", partitions)
    elif parameter:
        raise KernelError(f"nisa.activate2: relu_param must be a tile [{partitions}, 1] or 0, not {parameter}", "8.5")


def _exponential(call: Call) -> None:
    dst, _ = _pair(call)
    operands.scalar(call, "max_value", dst.shape[0])
    _accumulates(call, dst.shape[0], initial="reduce_init")


def _one_source(call: Call) -> None:
    _pair(call, "dst", "src" if "src" in call.arguments else "data")


def _pattern(call: Call, tile: NkiTensor) -> None:
    pattern = call.arguments["pattern"]
    if not 1 <= len(pattern) <= 4 or any(len(pair) != 2 for pair in pattern):
        raise KernelError(f"nisa.{call.operation}: pattern {pattern} must be one to four [step, count]", "7.5")
    if any(not -(2**31) <= step < 2**31 or not 1 <= count <= operands.MAX_COUNT for step, count in pattern):
        raise KernelError(f"nisa.{call.operation}: pattern {pattern}: steps have 32 bits, counts are 1 to {operands.MAX_COUNT}", "7.5")
    for name in ("offset", "channel_multiplier"):
        operands.integer(call, name)
    count = math.prod(pair[1] for pair in pattern)
    if count != tile.free_size:
        raise KernelError(f"nisa.{call.operation}: pattern {pattern} makes {count} values for a partition; dst is {tile!r}", "7.5")


def _iota(call: Call) -> None:
    _pattern(call, operands.tile(call, "dst", sbuf))


def _affine_select(call: Call) -> None:
    operands.tile(call, "dst", sbuf)
    operands.tile(call, "on_true_tile", sbuf)
    operands.same_size(call, "dst", "on_true_tile")
    _pattern(call, call.arguments["dst"])
    operands.operator(call, "cmp_op", op.equal, op.not_equal, op.greater, op.greater_equal, op.less, op.less_equal)
    operands.scalar(call, "on_false_value", call.arguments["dst"].shape[0])


def _range_select(call: Call) -> None:
    dst, _ = _pair(call, "dst", "on_true_tile")
    for name in ("comp_op0", "comp_op1"):
        operands.operator(call, name, op.equal, op.less, op.less_equal, op.greater, op.greater_equal)
    for name in ("bound0", "bound1"):
        operands.tile(call, name)
        operands.one_of(call, name, types.float32)
        operands.scalar(call, name, dst.shape[0])
    operands.integer(call, "range_start")
    operands.operator(call, "reduce_op", op.maximum)
    _accumulates(call, dst.shape[0])


def _select_reduce(call: Call) -> None:
    dst, _ = _pair(call, "dst", "on_true")
    operands.tile(call, "predicate")
    operands.same_size(call, "dst", "predicate")
    operands.one_of(call, "predicate", *_NARROW)
    operands.not_both_psum(call, "on_true", "predicate")
    operands.scalar(call, "on_false", dst.shape[0])
    operands.operator(call, "reduce_op", op.maximum)
    _accumulates(call, dst.shape[0])


def _bn_stats(call: Call) -> None:
    dst, data = operands.tile(call, "dst"), operands.tile(call, "data")
    if data.free_size > MAX_BN_STATS or dst.free_size != 6 or dst.shape[0] != data.shape[0]:
        raise KernelError(f"nisa.bn_stats: data has at most {MAX_BN_STATS} elements and dst 6; they are {data!r} and {dst!r}", "8.4")


def _bn_aggr(call: Call) -> None:
    dst, data = operands.tile(call, "dst"), operands.tile(call, "data")
    if data.free_size % 3 or dst.free_size != 2 or dst.shape[0] != data.shape[0]:
        raise KernelError(f"nisa.bn_aggr: data holds triples and dst 2 elements; they are {data!r} and {dst!r}", "8.4")


def _nc_stream_shuffle(call: Call) -> None:
    dst, src = operands.tile(call, "dst"), operands.tile(call, "src")
    mask = call.arguments["shuffle_mask"]
    if len(mask) != 32 or any(not (0 <= entry < 32 or entry == 255) for entry in mask):
        raise KernelError("nisa.nc_stream_shuffle: shuffle_mask has 32 entries of 0 to 31, or 255 to leave a partition", "8.4")
    operands.same_type(call, "dst", "src")
    if dst.free_size != src.free_size:
        raise KernelError(f"nisa.nc_stream_shuffle: {dst!r} and {src!r} differ in elements per partition", "8.4")
    for partition in range(dst.shape[0]):
        entry, quadrant = mask[partition % 32], partition // 32 * 32
        if entry != 255 and quadrant + entry >= src.shape[0]:
            raise KernelError(
                f"nisa.nc_stream_shuffle: shuffle_mask[{partition % 32}] is {entry}: partition "
                f"{quadrant + entry} of {src!r}, which has {src.shape[0]}",
                "8.4",
            )


def _max8(call: Call) -> None:
    dst, src = operands.tile(call, "dst"), operands.tile(call, "src")
    if not 8 <= src.free_size <= MAX_FREE_MAX8 or dst.free_size != 8 or dst.shape[0] != src.shape[0]:
        raise KernelError(f"nisa.max8: src has 8 to {MAX_FREE_MAX8} elements and dst 8; they are {src!r} and {dst!r}", "8.4")


def _nc_find_index8(call: Call) -> None:
    operands.tile(call, "data")
    operands.one_of(call, "dst", *_INDEX)
    for name in ("dst", "vals"):
        _eight(call, name)


def _eight(call: Call, name: str) -> None:
    """A tile with 8 elements for each partition of data."""
    found, data = operands.tile(call, name), call.arguments["data"]
    if found.free_size != 8 or found.shape[0] != data.shape[0]:
        raise KernelError(f"nisa.{call.operation}: {name} is {found!r}; it must be [{data.shape[0]}, 8]", "8.4")


def _nc_match_replace8(call: Call) -> None:
    _pair(call, "dst", "data")
    _eight(call, "vals")
    if call.arguments["dst_idx"] is not None:
        _eight(call, "dst_idx")
        operands.one_of(call, "dst_idx", *_INDEX)


def _local_gather(call: Call) -> None:
    src, dst = operands.tile(call, "src_buffer", sbuf), operands.tile(call, "dst", sbuf)
    index, size = operands.tile(call, "index", sbuf), call.arguments["num_elem_per_idx"]
    operands.one_of(call, "index", types.uint16)
    operands.same_type(call, "dst", "src_buffer")
    operands.multiple(call, "number of partitions", src.shape[0], 16, 128)
    count = call.arguments["num_valid_indices"]
    count = 16 * index.free_size if count is None else count
    if size not in (1, 2, 4, 8, 16, 32):
        raise KernelError(f"nisa.local_gather: num_elem_per_idx is {size}; it must be 1, 2, 4, 8, 16 or 32", "8.6")
    if index.shape[0] != src.shape[0] or not 1 <= count <= min(MAX_LOCAL_INDICES, 16 * index.free_size):
        raise KernelError(
            f"nisa.local_gather: {count} indices of {index!r} for {src!r}; each 16 partitions have 16 for each "
            f"column, and take 1 to {MAX_LOCAL_INDICES}",
            "8.6",
        )
    if dst.shape[0] != src.shape[0] or dst.free_size != count * size:
        raise KernelError(f"nisa.local_gather: the result is [{src.shape[0]}, {count * size}]; dst is {dst!r}", "8.6")


def _nc_n_gather(call: Call) -> None:
    dst, data = operands.tile(call, "dst", sbuf), operands.tile(call, "data", sbuf)
    operands.tile(call, "indices", sbuf)
    operands.one_of(call, "indices", types.uint32)
    operands.same_size(call, "dst", "indices")
    operands.same_type(call, "dst", "data")
    if data.shape[0] != dst.shape[0]:
        raise KernelError(f"nisa.nc_n_gather: {data!r} and {dst!r} differ in partitions", "8.6")


def _nonzero_with_count(call: Call) -> None:
    dst, src = operands.tile(call, "dst", sbuf), operands.tile(call, "src", sbuf)
    operands.one_of(call, "dst", types.int32)
    operands.one_of(call, "src", types.float32, types.int32)
    if dst.free_size != src.free_size + 1 or dst.shape[0] != src.shape[0]:
        raise KernelError(f"nisa.nonzero_with_count: dst has one element more than src; they are {dst!r} and {src!r}", "8.6")
    for name in ("index_offset", "padding_val"):
        operands.integer(call, name)


def _topk(call: Call) -> None:
    values, source, n = operands.tile(call, "val_dst"), operands.tile(call, "src"), call.arguments["n"]
    operands.tile(call, "idx_dst")
    operands.same_size(call, "val_dst", "idx_dst")
    operands.one_of(call, "val_dst", types.bfloat16)
    operands.one_of(call, "src", types.bfloat16)
    operands.one_of(call, "idx_dst", types.uint32)
    operands.multiple(call, "number of partitions", source.shape[0], 16, 128)
    if not 8 <= n < 65_536 or n > 16 * source.free_size:
        raise KernelError(
            f"nisa.topk: n is {n}; it must be 8 to 65535, and {source!r} has {16 * source.free_size} values for each 16 partitions",
            "8.6",
        )
    if values.free_size > n or values.shape[0] != source.shape[0]:
        raise KernelError(f"nisa.topk: {values!r} takes {values.free_size} of n = {n} values of {source!r}", "8.6")


def _sequence_bounds(call: Call) -> None:
    dst, ids = operands.tile(call, "dst", sbuf), operands.tile(call, "segment_ids", sbuf)
    for name in ("dst", "segment_ids"):
        operands.one_of(call, name, types.float32, types.int32)
    if ids.shape[0] != 1 or dst.shape[0] != 1 or dst.free_size != 2 * ids.free_size:
        raise KernelError(f"nisa.sequence_bounds: segment_ids is [1, n] and dst [1, 2, n]; they are {ids!r} and {dst!r}", "8.6")


def _rng(call: Call) -> None:
    if not operands.tile(call, "dst").dtype.is_integer:
        raise KernelError(f"nisa.rng: dst must be of an integer type; it is {call.arguments['dst'].dtype}", "8.4")
    if call.engine is engine.gpsimd and call.generation.number < 3:
        raise KernelError("nisa.rng: GPSIMD has it from NeuronCore-v3", "13")


def _rand2(call: Call) -> None:
    dst = operands.tile(call, "dst")
    for name in ("min", "max"):
        operands.scalar(call, name, dst.shape[0])


def _dropout(call: Call) -> None:
    dst, _ = _pair(call, "dst", "data")
    operands.scalar(call, "prob", dst.shape[0])


def _set_rng_seed(call: Call) -> None:
    seed = operands.tile(call, "src_seeds")
    operands.one_of(call, "src_seeds", types.int32, types.uint32, types.float32, types.tfloat32)
    if seed.size != 1:
        raise KernelError(f"nisa.set_rng_seed: src_seeds must have one element; it is {seed!r}", "8.4")


def _rng_state(call: Call) -> None:
    name = "dst" if "dst" in call.arguments else "src_seeds"
    state, words = operands.tile(call, name), 6 if call.engine is engine.gpsimd else 24
    operands.one_of(call, name, types.uint32)
    if call.engine is engine.vector and call.generation.number < 4:
        raise KernelError(f"nisa.{call.operation}: Vector has it from NeuronCore-v4", "8.4")
    if state.free_size != words:
        raise KernelError(f"nisa.{call.operation}: {name} must have {words} elements in each partition; it is {state!r}", "8.4")


RULES = {
    "tensor_copy": _tensor_copy,
    "memset": _memset,
    "tensor_copy_predicated": _tensor_copy_predicated,
    "tensor_tensor": _tensor_tensor,
    "tensor_scalar": _tensor_scalar,
    "scalar_tensor_tensor": _scalar_tensor_tensor,
    "tensor_reduce": _tensor_reduce,
    "tensor_partition_reduce": _tensor_partition_reduce,
    "tensor_scalar_reduce": _tensor_scalar_reduce,
    "tensor_scalar_cumulative": _tensor_scalar_cumulative,
    "tensor_tensor_scan": _tensor_tensor_scan,
    "activation": _activation,
    "activation_reduce": _activation,
    "activate2": _activate2,
    "exponential": _exponential,
    "reciprocal": _one_source,
    "dropout": _dropout,
    "iota": _iota,
    "affine_select": _affine_select,
    "range_select": _range_select,
    "select_reduce": _select_reduce,
    "bn_stats": _bn_stats,
    "bn_aggr": _bn_aggr,
    "nc_stream_shuffle": _nc_stream_shuffle,
    "max8": _max8,
    "nc_find_index8": _nc_find_index8,
    "nc_match_replace8": _nc_match_replace8,
    "local_gather": _local_gather,
    "nc_n_gather": _nc_n_gather,
    "nonzero_with_count": _nonzero_with_count,
    "rng": _rng,
    "rand2": _rand2,
    "set_rng_seed": _set_rng_seed,
    "rand_set_state": _rng_state,
    "rand_get_state": _rng_state,
    "sequence_bounds": _sequence_bounds,
    "topk": _topk,
}
