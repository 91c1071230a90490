# SPDX-License-Identifier: Apache-2.0
"""The operations of nki.isa: which arguments are written and read, and the engines that can execute them."""
from __future__ import annotations

import dataclasses

from trn_nki.values.engines import engine

_T, _S, _G, _V, _Y, _D = engine.tensor, engine.scalar, engine.gpsimd, engine.vector, engine.sync, engine.dma


@dataclasses.dataclass(frozen=True)
class Operation:
    """`writes` and `reads` name arguments; one that is a number or None is no operand."""

    name: str
    writes: tuple[str, ...]
    reads: tuple[str, ...]
    engines: tuple[engine, ...]  # the first is used if the kernel does not choose
    generation: int = 2  # the first that has it


OPERATIONS: dict[str, Operation] = {}


def _add(name: str, writes: str, reads: str, *engines: engine, generation: int = 2) -> None:
    OPERATIONS[name] = Operation(name, tuple(writes.split()), tuple(reads.split()), engines, generation)


_add("dma_copy", "dst", "src", _D)
_add("dma_transpose", "dst", "src", _D)
_add("dma_compute", "dst", "srcs", _D)
for _name in ("all_reduce", "all_gather", "reduce_scatter"):  # of nki.collectives
    _add(_name, "dst", "src", _D)
_add("sendrecv", "dst", "src", _D, generation=3)
_add("core_barrier", "", "data", _G, _S, _V, _Y, _T, generation=3)
_add("tensor_copy", "dst", "src", _V, _S, _G)
_add("memset", "dst", "value", _V, _G)
_add("tensor_copy_predicated", "dst", "src predicate", _V)
_add("nc_matmul", "dst", "stationary moving", _T)
_add("nc_matmul_mx", "dst", "stationary moving stationary_scale moving_scale", _T, generation=4)
_add("nc_transpose", "dst", "data", _T, _V)
_add("tensor_tensor", "dst", "data1 data2", _V, _G)
_add("tensor_scalar", "dst", "data operand0 operand1", _V, _S, _G)
_add("scalar_tensor_tensor", "dst", "data operand0 operand1", _V)
_add("tensor_reduce", "dst", "data", _V)
_add("tensor_partition_reduce", "dst", "data", _G)
_add("tensor_scalar_reduce", "dst reduce_res", "data operand0 reduce_init", _V)
_add("tensor_scalar_cumulative", "dst", "src imm0 imm1", _V)
_add("tensor_tensor_scan", "dst", "data0 data1 initial", _V)
_add("activation", "dst reduce_res", "data bias scale", _S)
_add("activation_reduce", "dst reduce_res", "data bias scale", _S)
_add("activate2", "dst reduce_res", "data imm0 imm1 relu_param", _S, generation=4)
_add("exponential", "dst reduce_res", "src max_value reduce_init", _V, generation=4)
_add("reciprocal", "dst", "data", _V)
_add("iota", "dst", "", _G)
_add("affine_select", "dst", "on_true_tile on_false_value", _G)
_add("range_select", "dst reduce_res", "on_true_tile bound0 bound1", _V, generation=3)
_add("select_reduce", "dst reduce_res", "predicate on_true on_false", _V)
_add("local_gather", "dst", "src_buffer index", _G)
_add("nc_n_gather", "dst", "data indices", _G)
_add("bn_stats", "dst", "data", _V)
_add("bn_aggr", "dst", "data", _V)
_add("nc_stream_shuffle", "dst", "src", _V)
_add("rng", "dst", "", _V, _G)
_add("dropout", "dst", "data prob", _V)
_add("set_rng_seed", "", "src_seeds", _V)
_add("rand_set_state", "", "src_seeds", _G, _V, generation=3)
_add("rand_get_state", "dst", "", _G, _V, generation=3)
_add("rand2", "dst", "min max", _V, generation=4)
_add("max8", "dst", "src", _V)
_add("nc_find_index8", "dst", "data vals", _V)
_add("nc_match_replace8", "dst dst_idx", "data vals", _V)
_add("sequence_bounds", "dst", "segment_ids", _G)
_add("nonzero_with_count", "dst", "src", _G, generation=3)
_add("topk", "val_dst idx_dst", "src", _G)
_add("quantize_mx", "dst dst_scale", "src", _V, generation=4)
_add("register_move", "", "", _Y)
_add("register_alu", "", "", _Y)  # arithmetic on registers, from Python's operators
_add("register_load", "", "src", _Y)
_add("register_store", "dst", "", _Y)
