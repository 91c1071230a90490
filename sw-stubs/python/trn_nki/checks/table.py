# SPDX-License-Identifier: Apache-2.0
"""Finds the rules of an operation."""
from __future__ import annotations

from typing import Callable

from trn_nki.checks.call import Call, Recorded
from trn_nki.checks import collectives, data_movement, indirection, lanes, matrices
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.indirection import DeviceInteger
from trn_nki.tensors.tensor import NkiTensor, indirection_of
from trn_nki.values import data_types as types
from trn_nki.values.operations import OPERATIONS
from trn_nki.values.engines import engine
from trn_nki.values.generations import Generation
from trn_nki.values.memory_regions import psum

_RULES: dict[str, Callable[[Call], None]] = {**collectives.RULES, **data_movement.RULES, **lanes.RULES, **matrices.RULES}


# Operations on bits, or with rules of their own for types.
_MOVES = {
    "tensor_copy",
    "memset",
    "tensor_copy_predicated",
    "nc_transpose",
    "nc_stream_shuffle",
    "local_gather",
    "nc_n_gather",
    "nc_matmul",
    "nc_matmul_mx",
    "quantize_mx",
    "register_load",
    "register_store",
    "core_barrier",
}


def check(instruction: Recorded, generation: Generation) -> None:
    """Raises KernelError when the target cannot execute the instruction as the specification says."""
    operation = OPERATIONS[instruction.operation]
    if operation.generation > generation.number:
        raise KernelError(f"nisa.{operation.name} exists from NeuronCore-v{operation.generation}; the target is v{generation.number}", "13")
    call = Call(instruction, generation)
    rule = _RULES.get(instruction.operation)
    if rule is not None:
        rule(call)
    views = instruction.reads + instruction.writes
    if instruction.engine is engine.gpsimd:
        for view in views:
            if view.buffer is psum:
                raise KernelError(f"nisa.{operation.name}: GPSIMD cannot reach PSUM, where {view!r} is", "2.5")
    if (
        instruction.engine is not engine.dma
        or instruction.operation == "dma_compute"
        or (instruction.operation == "dma_copy" and not types.keep_bits(*(call.arguments[name].dtype for name in ("dst", "src"))))
    ):
        for view in views:
            _check_type(call, view.dtype)
    for view in views:
        if view.indirection is not None:
            _check_index(call, view)


def _check_type(call: Call, dtype: types.DataType) -> None:
    """Types that the engine has (3.1)."""
    exists = types.exists(dtype, call.generation.number)
    if not exists or (dtype is types.float8_e3m4 and call.engine is engine.gpsimd):
        owner = f"NeuronCore-v{call.generation.number}" if not exists else "the GPSIMD engine"
        raise KernelError(f"nisa.{call.operation}: {owner} has no {dtype}", "3.1")
    if not types.is_computed(dtype) and call.operation not in _MOVES:
        raise KernelError(f"nisa.{call.operation}: no engine computes with {dtype}", "3.1")


def _check_index(call: Call, view: NkiTensor) -> None:
    """Rules of a view whose place is known on the device only."""
    index = indirection_of(view)
    if index.over_partitions and (call.engine is not engine.dma or call.generation.number == 2):
        raise KernelError(
            f"nisa.{call.operation}: the partition of {view!r} is known only on the device; engines take "
            "partitions from the instruction, as DMA of NeuronCore-v2 does",
            "2.2",
        )
    tile = None if isinstance(index.index, DeviceInteger) else index.index
    if tile is not None and tile.indirection is not None:
        raise KernelError(f"nisa.{call.operation}: the place of the index {tile!r} must be known before the run", "8.2")
    if index.kind == "vector" and index.tile.dtype not in (types.int32, types.uint32):
        raise KernelError(f"nisa.{call.operation}: the index {index.index!r} must be of type int32 or uint32", "8.2")
    if index.kind == "scalar" and tile is not None and not tile.dtype.is_integer:
        raise KernelError(f"nisa.{call.operation}: the index {index.index!r} must be an integer", "8.1")
    if index.kind == "column":
        indirection.check(call, view)
