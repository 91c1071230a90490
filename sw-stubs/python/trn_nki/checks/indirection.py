# SPDX-License-Identifier: Apache-2.0
"""Rules of operands whose elements an index tile selects (doc/spec/neuron-core.md, 2.4)."""
from __future__ import annotations

from trn_nki.checks.call import Call
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor, has_kind, indirection_of
from trn_nki.values import data_types as types
from trn_nki.values.engines import engine
from trn_nki.values.memory_regions import psum, sbuf

_SOURCES = ("src", "data", "data0", "data1", "on_true", "on_true_tile", "src_buffer", "segment_ids", "stationary", "moving")
_RESULTS = ("tensor_reduce", "bn_stats", "bn_aggr", "max8", "nc_find_index8")  # with few elements
_OF_TENSOR = (types.float16, types.bfloat16)


def check(call: Call, view: NkiTensor) -> None:
    """Raises KernelError."""
    if call.generation.number < 4:
        raise KernelError(f"views made by indirect() exist from NeuronCore-v4; the target is v{call.generation.number}", "2.4")
    name = next((name for name in ("dst", *_SOURCES) if call.arguments.get(name) is view), None)
    is_refused = (name == "data1" and call.operation != "tensor_tensor") or (
        name == "dst" and (call.operation in _RESULTS or (call.engine is engine.scalar and view.buffer is psum))
    )
    if name is None or is_refused:
        raise KernelError(f"nisa.{call.operation}: {view!r} cannot be an operand with an index tile", "2.4")
    _index(call, view)
    start = indirection_of(view).tile.start_partition
    wanted = view.start_partition if name != "dst" else _of_destination(call, start)
    if start % 32 or start != wanted:
        raise KernelError(
            f"nisa.{call.operation}: the index tile of {name} starts at partition {start}; it must start at {wanted}, a multiple of 32",
            "2.4",
        )
    if call.engine is engine.tensor:
        _on_tensor(call, name, view)


def _index(call: Call, view: NkiTensor) -> None:
    """Offset i of a partition is in a group's partition i mod G, column i div G."""
    index, group = indirection_of(view).tile, 32 if call.engine is engine.tensor else 16
    partitions, count = view.shape
    rows, columns = (partitions - 1) // group * group + min(count, group), -(-count // group)
    if index.dtype is not types.uint32 or not index.is_on_chip or index.free_pattern() not in ([(1, index.free_size)], [(1, 1)]):
        raise KernelError(f"nisa.{call.operation}: the index {index!r} must be a tile of uint32 whose columns are contiguous", "2.4")
    if index.shape[0] < rows or index.free_size < columns:
        raise KernelError(
            f"nisa.{call.operation}: the index {index!r} has too few elements: {count} for each of {partitions} "
            f"partitions take [{rows}, {columns}]",
            "2.4",
        )


def _of_destination(call: Call, own: int) -> int:
    if call.engine is engine.tensor:
        stationary: NkiTensor = call.arguments["stationary"]
        return stationary.start_partition
    source = next((value for name in _SOURCES if isinstance(value := call.arguments.get(name), NkiTensor)), None)
    index = source.indirection if source is not None and has_kind(source, "column") else None
    if source is not None and source.buffer is sbuf and index is None:
        return source.start_partition
    if source is not None and source.buffer is psum and index is not None:
        return index.tile.start_partition
    return own


def _on_tensor(call: Call, name: str, view: NkiTensor) -> None:
    if call.arguments.get("tile_size") or (name == "moving" and call.arguments.get("is_transpose")):
        raise KernelError(f"nisa.{call.operation}: {name} has an index tile, which this mode does not take", "2.4")
    if name != "dst" and view.dtype not in _OF_TENSOR and not view.dtype.is_fp8:
        raise KernelError(f"nisa.{call.operation}: {name} is {view.dtype}; with an index tile Tensor reads FP16, BF16 and FP8", "2.4")
