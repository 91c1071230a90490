# SPDX-License-Identifier: Apache-2.0
"""Vector, Scalar and GPSIMD instructions (doc/spec/neuron-core.md, 8.4 to 8.6)."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Iterable

import numpy

from trn_nki.checks.lanes import reduced_axes
from trn_nki.simulate import formats, functions
from trn_nki.simulate.arithmetic import UFUNCS, compute, compute_bits, reduce
from trn_nki.simulate.core import SimulatedCore
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.host_arrays import raw_type
from trn_nki.values import data_types as types
from trn_nki.values import operators as op
from trn_nki.values.engines import engine

if TYPE_CHECKING:
    import numpy.typing as npt

    from trn_nki.simulate.formats import Floats

_F = numpy.float32
LOWEST = _F(-3.4028234663852886e38)


def tensor_copy(core: SimulatedCore, a: dict[str, Any]) -> None:
    dst, src = a["dst"], a["src"]
    if dst.dtype is src.dtype and not (core.generation.number == 2 and core.engine is engine.scalar):
        core.store_raw(dst, core.raw(src))
    else:
        core.store(dst, core.values(src))


def memset(core: SimulatedCore, a: dict[str, Any]) -> None:
    dst, value = a["dst"], a["value"]
    if dst.dtype.is_integer:
        limits = formats.integer_limits(dst.dtype)
        value = value % 2**32 if dst.dtype is types.uint32 else min(max(value, int(limits.min)), int(limits.max))
        core.store_raw(dst, numpy.full((dst.shape[0], dst.free_size), value, raw_type(dst.dtype)))
    else:
        core.store(dst, numpy.full((dst.shape[0], dst.free_size), value, _F))


def _select(core: SimulatedCore, mask: npt.NDArray[numpy.bool_], source: NkiTensor, other: npt.ArrayLike, dst: NkiTensor) -> None:
    """Selected elements keep their bits when the types agree; others are an FP32 value."""
    filled = formats.from_float32(numpy.broadcast_to(numpy.asarray(other, _F), mask.shape), dst.dtype)
    kept = core.raw(source) if source.dtype is dst.dtype else formats.from_float32(core.values(source), dst.dtype)
    core.store_raw(dst, numpy.where(mask, kept, filled))


def tensor_copy_predicated(core: SimulatedCore, a: dict[str, Any]) -> None:
    dst, src = a["dst"], a["src"]
    mask = core.raw(a["predicate"]) != 0
    mask = ~mask if a["reverse_pred"] else mask
    if isinstance(src, NkiTensor):
        taken = core.raw(src)
    else:
        taken = formats.from_float32(numpy.full((1, 1), src, _F), dst.dtype)
    core.store_raw(dst, numpy.where(mask, taken, core.raw(dst)))


def tensor_tensor(core: SimulatedCore, a: dict[str, Any]) -> None:
    dst, x, y, operator = a["dst"], a["data1"], a["data2"], a["op"]
    if operator.is_bitvec:
        core.store_raw(dst, compute_bits(operator, core.raw(x), core.raw(y)))
    elif core.engine is engine.gpsimd and x.dtype is y.dtype is dst.dtype and x.dtype in (types.int32, types.uint32) and operator in UFUNCS:
        core.store_raw(dst, UFUNCS[operator](core.raw(x), core.raw(y)))
    else:
        core.store(dst, compute(operator, core.values(x), core.values(y)))


def tensor_scalar(core: SimulatedCore, a: dict[str, Any]) -> None:
    dst, data = a["dst"], a["data"]
    steps = [(a["op0"], a["operand0"], a["reverse0"]), (a["op1"], a["operand1"], a["reverse1"])]
    steps = [step for step in steps if step[0] is not None and step[0] is not op.bypass]
    if any(operator.is_bitvec for operator, _, _ in steps):
        value = core.raw(data)
        for operator, operand, reverse in steps:
            value = compute_bits(operator, value, core.integer(operand), reverse)
        core.store_raw(dst, value.astype(raw_type(dst.dtype), copy=False))
        return
    value = core.values(data)
    for operator, operand, reverse in steps:
        value = compute(operator, value, core.scalar(operand), reverse)
    core.store(dst, value)


def scalar_tensor_tensor(core: SimulatedCore, a: dict[str, Any]) -> None:
    value = compute(a["op0"], core.values(a["data"]), core.scalar(a["operand0"]), a["reverse0"])
    core.store(a["dst"], compute(a["op1"], value, core.values(a["operand1"]), a["reverse1"]))


def tensor_tensor_scan(core: SimulatedCore, a: dict[str, Any]) -> None:
    x, y = core.values(a["data0"]), core.values(a["data1"])
    found = numpy.empty(x.shape, _F)
    last = numpy.broadcast_to(core.scalar(a["initial"]), (x.shape[0], 1))[:, 0]
    for i in range(x.shape[1]):
        last = compute(a["op1"], compute(a["op0"], x[:, i], last, a["reverse0"]), y[:, i], a["reverse1"])
        found[:, i] = last
    core.store(a["dst"], found)


def tensor_scalar_cumulative(core: SimulatedCore, a: dict[str, Any]) -> None:
    x = compute(a["op0"], core.values(a["src"]), core.scalar(a["imm0"]))
    last = core.accumulator(a["reduce_cmd"], a["op1"], len(x), a["imm1"])
    found = numpy.empty(x.shape, _F)
    for i in range(x.shape[1]):
        last = compute(a["op1"], x[:, i], last)
        found[:, i] = last
    core.accumulators[core.engine][: len(x)] = last
    core.store(a["dst"], found)


def reciprocal(core: SimulatedCore, a: dict[str, Any]) -> None:
    core.store(a["dst"], compute(op.reciprocal, core.values(a["data"]), _F(0)))


def _activate(core: SimulatedCore, a: dict[str, Any], x: Floats, slope: float | Floats | numpy.float32 = 0.0) -> None:
    result = functions.apply(a["op"], x, slope)
    core.store(a["dst"], result)
    core.accumulate(a["reduce_cmd"], a["reduce_op"] or op.add, result, a["reduce_res"])


def activation(core: SimulatedCore, a: dict[str, Any]) -> None:
    x = core.values(a["data"])
    scale = a["scale"]
    if isinstance(scale, NkiTensor) or scale != 1.0:
        x = x * core.scalar(scale)
    if a["bias"] is not None:
        x = x + core.scalar(a["bias"])
    _activate(core, a, x)


def activate2(core: SimulatedCore, a: dict[str, Any]) -> None:
    x = compute(a["op0"], core.values(a["data"]), core.scalar(a["imm0"]), a["reverse0"])
    x = compute(a["op1"], x, core.scalar(a["imm1"]), a["reverse1"])
    _activate(core, a, x, core.scalar(a["relu_param"]))


def exponential(core: SimulatedCore, a: dict[str, Any]) -> None:
    result = functions.apply(op.exp, core.values(a["src"]) - core.scalar(a["max_value"]))
    core.store(a["dst"], result)
    core.accumulate(a["reduce_cmd"], op.add, result, a["reduce_res"], a["reduce_init"])


def tensor_reduce(core: SimulatedCore, a: dict[str, Any]) -> None:
    dst, data, operator = a["dst"], a["data"], a["op"]
    kept = math.prod(data.shape[1 : reduced_axes(a["axis"], data.ndim)[0]])
    shape = (data.shape[0], kept, -1)
    if operator.is_bitvec:
        raw = core.raw(data).reshape(shape)
        found = raw[..., 0]
        for i in range(1, raw.shape[-1]):
            found = compute_bits(operator, found, raw[..., i])
        core.store_raw(dst, found)
        return
    found = reduce(operator, core.values(data).reshape(shape))
    core.store(dst, found * _F(-1) if a["negate"] else found)


def tensor_partition_reduce(core: SimulatedCore, a: dict[str, Any]) -> None:
    operator = a["op"]
    if operator.is_bitvec:
        raw = core.raw(a["data"])
        found = raw[0]
        for row in raw[1:]:
            found = compute_bits(operator, found, row)
        core.store_raw(a["dst"], found[None])
        return
    values = core.values(a["data"])
    start = numpy.full(values.shape[1], operator.start, _F)
    found = reduce(op.add if operator is op.average else operator, values.T, start)
    core.store(a["dst"], (found / _F(len(values)) if operator is op.average else found)[None])


def tensor_scalar_reduce(core: SimulatedCore, a: dict[str, Any]) -> None:
    result = compute(a["op0"], core.values(a["data"]), core.scalar(a["operand0"]), a["reverse0"])
    core.store(a["dst"], result)
    core.accumulate(a["reduce_cmd"], a["reduce_op"], result, a["reduce_res"], a["reduce_init"], a["reduce_res_negate"])


def _affine(a: dict[str, Any], partitions: int) -> npt.NDArray[numpy.int32]:
    """The data pattern in 32-bit wrapping arithmetic (7.5)."""
    value = numpy.zeros((1,), numpy.int64)
    for step, count in a["pattern"]:
        value = (value[:, None] + step * numpy.arange(count)).reshape(-1)
    value = value + a["offset"] + a["channel_multiplier"] * numpy.arange(partitions)[:, None]
    return value.astype(numpy.int32)


def iota(core: SimulatedCore, a: dict[str, Any]) -> None:
    dst = a["dst"]
    value = _affine(a, dst.shape[0])
    if dst.dtype is types.int32:
        core.store_raw(dst, value)
    elif dst.dtype is types.uint32:
        core.store_raw(dst, numpy.maximum(value, 0).astype(numpy.uint32))
    else:
        core.store(dst, value.astype(_F))


def affine_select(core: SimulatedCore, a: dict[str, Any]) -> None:
    mask = compute(a["cmp_op"], numpy.sign(_affine(a, a["dst"].shape[0])), _F(0)) != 0
    _select(core, mask, a["on_true_tile"], core.scalar(a["on_false_value"]), a["dst"])


def range_select(core: SimulatedCore, a: dict[str, Any]) -> None:
    source = a["on_true_tile"]
    index = numpy.arange(source.free_size, dtype=_F) + _F(a["range_start"])
    mask = (compute(a["comp_op0"], index, core.scalar(a["bound0"])) != 0) & (compute(a["comp_op1"], index, core.scalar(a["bound1"])) != 0)
    result = numpy.where(mask, core.values(source), LOWEST)
    _select(core, mask, source, LOWEST, a["dst"])
    core.accumulate(a["reduce_cmd"], op.maximum, result, a["reduce_res"])


def select_reduce(core: SimulatedCore, a: dict[str, Any]) -> None:
    mask = core.raw(a["predicate"]) != 0
    mask = ~mask if a["reverse_pred"] else mask
    other = core.scalar(a["on_false"])
    result = numpy.where(mask, core.values(a["on_true"]), other)
    _select(core, mask, a["on_true"], other, a["dst"])
    core.accumulate(a["reduce_cmd"], op.maximum, result, a["reduce_res"])


def nc_n_gather(core: SimulatedCore, a: dict[str, Any]) -> None:
    indices = core.raw(a["indices"]).astype(numpy.int64)
    core.memory.check_indices(indices, a["data"].free_size, a["data"])
    core.store_raw(a["dst"], numpy.take_along_axis(core.raw(a["data"]), indices, 1))


def local_gather(core: SimulatedCore, a: dict[str, Any]) -> None:
    source, index, dst, size = core.raw(a["src_buffer"]), core.raw(a["index"]), a["dst"], a["num_elem_per_idx"]
    count = a["num_valid_indices"] or 16 * index.shape[1]
    found = core.raw(dst)
    for first in range(0, len(source), 16):
        flat = index[first : first + 16].T.reshape(-1)[:count].astype(numpy.int64)
        columns = (flat[:, None] + numpy.arange(size)).reshape(-1)
        core.memory.check_indices(columns, source.shape[1], a["src_buffer"])
        found[first : first + 16, : len(columns)] = source[first : first + 16, columns]
    core.store_raw(dst, found)


def nc_stream_shuffle(core: SimulatedCore, a: dict[str, Any]) -> None:
    source, dst = core.raw(a["src"]), a["dst"]
    found = core.raw(dst)
    for first in range(0, len(found), 32):
        for target, origin in enumerate(a["shuffle_mask"]):
            if origin != 255 and first + target < len(found) and first + origin < len(source):
                found[first + target] = source[first + origin]
    core.store_raw(dst, found)


def bn_stats(core: SimulatedCore, a: dict[str, Any]) -> None:
    x = core.values(a["data"])
    found = []
    for half in (x[:, 0::2], x[:, 1::2]):
        count = _F(half.shape[1])
        start = numpy.zeros(len(x), _F)
        mean = reduce(op.add, half, start) / count
        found += [numpy.full(len(x), count), mean, reduce(op.add, numpy.square(half - mean[:, None]), start)]
    core.store(a["dst"], numpy.stack(found, axis=1))


def bn_aggr(core: SimulatedCore, a: dict[str, Any]) -> None:
    x = core.values(a["data"]).reshape(a["data"].shape[0], -1, 3)
    count, mean, m2 = x[..., 0], x[..., 1], x[..., 2]
    start = numpy.zeros(len(x), _F)
    total = reduce(op.add, count, start)
    centre = reduce(op.add, count * mean, start) / total
    away = mean - centre[:, None]
    variance = (reduce(op.add, m2, start) + reduce(op.add, count * (away * away), start)) / total
    core.store(a["dst"], numpy.stack([centre, variance], axis=1))


def max8(core: SimulatedCore, a: dict[str, Any]) -> None:
    x = core.values(a["src"])
    ordered = -numpy.sort(-x, axis=1, kind="stable")  # NaN last, equal zeros in their order
    core.store(a["dst"], ordered[:, :8])


def _matches(x: Floats, wanted: Floats, order: Iterable[int]) -> npt.NDArray[numpy.int64]:
    """Index of the first element equal to each wanted value that no earlier match took; -1: none."""
    found = numpy.full((len(x), 8), -1, numpy.int64)
    taken = numpy.zeros(x.shape, bool)
    lanes = numpy.arange(len(x))
    for j in order:
        same = (x == wanted[:, j : j + 1]) & ~taken
        first = same.argmax(axis=1)
        hit = same[lanes, first]
        found[hit, j] = first[hit]
        taken[lanes[hit], first[hit]] = True
    return found


def nc_find_index8(core: SimulatedCore, a: dict[str, Any]) -> None:
    found = _matches(core.values(a["data"]), core.values(a["vals"]), range(8))
    core.store_raw(a["dst"], found.astype(raw_type(a["dst"].dtype)))


def nc_match_replace8(core: SimulatedCore, a: dict[str, Any]) -> None:
    dst, data = a["dst"], a["data"]
    found = _matches(core.values(data), core.values(a["vals"]), range(7, -1, -1))
    mask = numpy.ones((dst.shape[0], dst.free_size), bool)
    lanes, columns = numpy.nonzero(found >= 0)
    mask[lanes, found[lanes, columns]] = False
    _select(core, mask, data, _F(a["imm"]), dst)
    if a["dst_idx"] is not None:
        core.store_raw(a["dst_idx"], found.astype(raw_type(a["dst_idx"].dtype)))


def nonzero_with_count(core: SimulatedCore, a: dict[str, Any]) -> None:
    values, found = core.values(a["src"]), core.raw(a["dst"])
    for partition in range(0, len(values), 16):
        indices = numpy.nonzero(values[partition])[0] + a["index_offset"]
        found[partition, :-1] = a["padding_val"]
        found[partition, : len(indices)] = indices
        found[partition, -1] = len(indices)
    core.store_raw(a["dst"], found)


def sequence_bounds(core: SimulatedCore, a: dict[str, Any]) -> None:
    ids = core.raw(a["segment_ids"])[0]  # compared in their type (20.50)
    count = len(ids)
    starts, ends = numpy.full(count, count, _F), numpy.full(count, -1, _F)
    first = 0
    for i in range(1, count + 1):
        if i == count or ids[i] != ids[first]:
            if ids[first] != 0:
                starts[first:i], ends[first:i] = first, i
            first = i
    core.store(a["dst"], numpy.concatenate([starts, ends])[None])


def topk(core: SimulatedCore, a: dict[str, Any]) -> None:
    """The n values of each group of 16 partitions lie partition first; ties: the lower index is the larger."""
    source, raw, count, n = core.values(a["src"]), core.raw(a["src"]), a["val_dst"].free_size, a["n"]
    values = numpy.empty((len(source), count), raw.dtype)
    indices = numpy.empty((len(source), count), numpy.uint32)
    for first in range(0, len(source), 16):
        flat = source[first : first + 16].T.reshape(-1)[:n]
        order = numpy.argsort(-flat, kind="stable")[:count][::-1]
        values[first : first + 16] = raw[first : first + 16].T.reshape(-1)[order]
        indices[first : first + 16] = order
    core.store_raw(a["val_dst"], values)
    core.store_raw(a["idx_dst"], indices)


OPERATIONS = {
    function.__name__: function
    for function in (
        tensor_copy,
        memset,
        tensor_copy_predicated,
        tensor_tensor,
        tensor_scalar,
        scalar_tensor_tensor,
        tensor_tensor_scan,
        tensor_scalar_cumulative,
        reciprocal,
        activation,
        activate2,
        exponential,
        tensor_reduce,
        tensor_partition_reduce,
        tensor_scalar_reduce,
        iota,
        affine_select,
        range_select,
        select_reduce,
        nc_n_gather,
        local_gather,
        nc_stream_shuffle,
        bn_stats,
        bn_aggr,
        max8,
        nc_find_index8,
        nc_match_replace8,
        nonzero_with_count,
        sequence_bounds,
        topk,
    )
}
OPERATIONS["activation_reduce"] = activation
