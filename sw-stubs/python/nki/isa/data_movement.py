# SPDX-License-Identifier: Apache-2.0
"""nki.isa: DMA, exchange between cores, registers."""
from __future__ import annotations

from typing import Any

from trn_nki.trace.instructions import Instruction
from trn_nki.trace.recording import record
from trn_nki.values import engines

__all__ = ["dma_copy", "dma_transpose", "dma_compute", "sendrecv", "core_barrier"]


def dma_copy(
    dst: Any,
    src: Any,
    priority: Any = None,
    oob_mode: Any = engines.oob_mode.error,
    dge_mode: Any = engines.dge_mode.unknown,
    engine: Any = engines.engine.unknown,
    name: Any = None,
) -> Instruction:
    """dst = src by DMA; converts types; dynamic indices of views select rows."""
    return record(
        "dma_copy",
        engine,
        name,
        {"dst": dst, "src": src, "priority": priority, "oob_mode": oob_mode, "dge_mode": dge_mode, "engine": engine},
    )


def dma_transpose(
    dst: Any,
    src: Any,
    axes: Any = None,
    priority: Any = None,
    dge_mode: Any = engines.dge_mode.unknown,
    oob_mode: Any = engines.oob_mode.error,
    name: Any = None,
) -> Instruction:
    """dst = src with its first and last dimension exchanged, by DMA."""
    return record(
        "dma_transpose",
        engines.engine.unknown,
        name,
        {"dst": dst, "src": src, "axes": axes, "priority": priority, "dge_mode": dge_mode, "oob_mode": oob_mode},
    )


def dma_compute(
    dst: Any,
    srcs: Any,
    reduce_op: Any,
    scales: Any = None,
    unique_indices: Any = True,
    oob_mode: Any = engines.oob_mode.error,
    name: Any = None,
) -> Instruction:
    """dst = sum of srcs in FP32, computed by the DMA engines."""
    return record(
        "dma_compute",
        engines.engine.unknown,
        name,
        {"dst": dst, "srcs": srcs, "reduce_op": reduce_op, "scales": scales, "unique_indices": unique_indices, "oob_mode": oob_mode},
    )


def sendrecv(
    src: Any, dst: Any, send_to_rank: Any, recv_from_rank: Any, pipe_id: Any, dma_engine: Any = engines.dma_engine.dma, name: Any = None
) -> Instruction:
    """Sends src to the other core of the logical core and receives dst from it."""
    return record(
        "sendrecv",
        engines.engine.unknown,
        name,
        {
            "src": src,
            "dst": dst,
            "send_to_rank": send_to_rank,
            "recv_from_rank": recv_from_rank,
            "pipe_id": pipe_id,
            "dma_engine": dma_engine,
        },
    )


def core_barrier(data: Any, cores: Any, engine: Any = engines.engine.gpsimd, name: Any = None) -> Instruction:
    """Waits until both cores of the logical core have reached the barrier."""
    return record("core_barrier", engine, name, {"data": data, "cores": cores})
