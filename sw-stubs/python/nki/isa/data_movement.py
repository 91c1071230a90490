# SPDX-License-Identifier: Apache-2.0
"""nki.isa: DMA, exchange between cores, registers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from trn_nki.trace.recording import record
from trn_nki.values import engines

if TYPE_CHECKING:
    from trn_nki.tensors.tensor import NkiTensor
    from trn_nki.tensors.argument_types import Engine
    from trn_nki.trace.instructions import Instruction
    from trn_nki.values.operators import Operator

__all__ = ["dma_copy", "dma_transpose", "dma_compute", "sendrecv", "core_barrier"]


def dma_copy(
    dst: NkiTensor,
    src: NkiTensor,
    priority: int | None = None,
    oob_mode: engines.oob_mode = engines.oob_mode.error,
    dge_mode: engines.dge_mode = engines.dge_mode.unknown,
    engine: Engine = engines.engine.unknown,
    name: str | None = None,
) -> Instruction:
    """dst = src by DMA; converts types; dynamic indices of views select rows.

    Tensors in HBM or SBUF with equal numbers of elements, of any shapes; types that no engine computes with are copied as bits
    and must have one size (3.1). A view may have a scalar index; rows by an index tile are at most 128 rows of one tensor in HBM
    (8.2). `oob_mode.skip` leaves rows whose index is out of range. `priority`, `dge_mode` and `engine` have no effect.
    Specification: 8.2, rows 17 to 19; 12.
    """
    return record("dma_copy", locals())


def dma_transpose(
    dst: NkiTensor,
    src: NkiTensor,
    axes: Sequence[int] | None = None,
    priority: int | None = None,
    dge_mode: engines.dge_mode = engines.dge_mode.unknown,
    oob_mode: engines.oob_mode = engines.oob_mode.error,
    name: str | None = None,
) -> Instruction:
    """dst = src with its first and last dimension exchanged, by DMA.

    Tensors in HBM or SBUF of one type with equal numbers of elements, whose places are known before the run; `src` has two to
    four dimensions. `axes`: None, or (1, 0), (2, 1, 0), (3, 1, 2, 0). `priority`, `dge_mode` and `oob_mode` have no effect.
    Specification: 8.2, rows 18 and 20.
    """
    return record("dma_transpose", locals())


def dma_compute(
    dst: NkiTensor,
    srcs: Sequence[NkiTensor],
    reduce_op: Operator,
    scales: Sequence[float] | None = None,
    unique_indices: bool = True,
    oob_mode: engines.oob_mode = engines.oob_mode.error,
    name: str | None = None,
) -> Instruction:
    """dst = sum of srcs in FP32, computed by the DMA engines.

    1 to 16 tensors, or rows by an index tile, with as many elements as `dst`, which has at most 128 rows; types that engines
    compute with (3.1). `reduce_op`: nl.add; `scales`: None, or 1.0 for each source; `oob_mode`: not skip with
    rows by index; `unique_indices` has no effect. Specification: 14.
    """
    return record("dma_compute", locals())


def sendrecv(
    src: NkiTensor,
    dst: NkiTensor,
    send_to_rank: int,
    recv_from_rank: int,
    pipe_id: int,
    dma_engine: engines.dma_engine = engines.dma_engine.dma,
    name: str | None = None,
) -> Instruction:
    """Sends src to the other core of the logical core and receives dst from it.

    Tiles [P, F] in SBUF of one type and size, whose places are known before the run; ranks 0 and 1. Both cores of kernel[2] must
    call it. `pipe_id` and `dma_engine` have no effect. From NeuronCore-v3. Specification: 6.
    """
    return record("sendrecv", locals())


def core_barrier(data: NkiTensor, cores: Sequence[int], engine: Engine = engines.engine.gpsimd, name: str | None = None) -> Instruction:
    """Waits until both cores of the logical core have reached the barrier.

    Later uses of `data`, a tensor whose place is known before the run, wait; `cores`: (0, 1). Both cores of kernel[2] must call
    it. From NeuronCore-v3. Specification: 6, "Core barrier".
    """
    return record("core_barrier", locals())
