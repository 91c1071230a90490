# SPDX-License-Identifier: Apache-2.0
"""Rules of DMA, copies between cores, and registers."""
from __future__ import annotations

from trn_nki.checks import operands
from trn_nki.checks.call import Call
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor, has_kind
from trn_nki.values import data_types, operators
from trn_nki.values.engines import oob_mode
from trn_nki.values.generations import PARTITIONS
from trn_nki.values.memory_regions import psum, sbuf

_AXES = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
MAX_DMA_SOURCES = 16


def _no_psum(call: Call, tensor: NkiTensor, name: str) -> None:
    if tensor.buffer is psum:
        raise KernelError(
            f"nisa.{call.operation}: DMA does not reach PSUM, where {name} is; copy it through a tile in SBUF by nisa.tensor_copy", "19"
        )


def _dma_copy(call: Call) -> None:
    dst, src = operands.tensor(call, "dst"), operands.tensor(call, "src")
    _no_psum(call, dst, "dst")
    _no_psum(call, src, "src")
    if dst.size != src.size:
        raise KernelError(f"nisa.dma_copy: dst is {dst!r} and src is {src!r}; the numbers of elements must agree", "12")
    is_converted = data_types.is_computed(dst.dtype) and data_types.is_computed(src.dtype)
    if not is_converted and not data_types.keep_bits(dst.dtype, src.dtype):
        raise KernelError(f"nisa.dma_copy: dst is {dst.dtype} and src is {src.dtype}, which no engine converts", "3.1")
    dynamic = {name: view for name, view in (("dst", dst), ("src", src)) if view.indirection is not None}
    if dynamic:
        _indices(call, dst, src, dynamic)


def _indices(call: Call, dst: NkiTensor, src: NkiTensor, dynamic: dict[str, NkiTensor]) -> None:
    """Rules of the views with an index of the device (8.2)."""
    vectors = [view for view in dynamic.values() if has_kind(view, "vector")]
    for view in dynamic.values():
        if has_kind(view, "column"):
            raise KernelError(f"nisa.dma_copy: {view!r}; DMA takes a scalar index or rows by index", "8.2")
    skips = call.arguments["oob_mode"] is oob_mode.skip
    if skips and (len(dynamic) == 2 or (call.generation.number == 2 and not vectors)):
        raise KernelError("nisa.dma_copy: oob_mode.skip is for one index, from NeuronCore-v3 or of rows", "8.2")
    if skips and not vectors and not data_types.keep_bits(dst.dtype, src.dtype):
        raise KernelError(f"nisa.dma_copy: from {src.dtype} to {dst.dtype} with oob_mode.skip; such a copy converts no type", "8.2")
    for name, view in dynamic.items() if call.generation.number == 2 else ():
        if view.is_on_chip:
            operands.tile(call, name)
        elif view.shape[0] > PARTITIONS and not vectors:
            raise KernelError(f"nisa.dma_copy: {view.shape[0]} rows at a scalar index, NeuronCore-v2 moves {PARTITIONS}", "13")
    if not vectors:
        if len(dynamic) == 2 and src.shape[0] > PARTITIONS:
            raise KernelError(f"nisa.dma_copy: {src.shape[0]} rows from one index to another, at most {PARTITIONS} are possible", "8.2")
        return
    table, other = (src, dst) if vectors[0] is src else (dst, src)
    if len(vectors) == 2 or table.is_on_chip:
        raise KernelError("nisa.dma_copy: rows by index are rows of one tensor in HBM", "8.2")
    if table.shape[0] > PARTITIONS:
        raise KernelError(f"nisa.dma_copy: {table.shape[0]} rows by index in one copy, at most {PARTITIONS} are possible", "8.2")
    if skips and table is src and not (other.is_on_chip and data_types.keep_bits(other.dtype, table.dtype)):
        raise KernelError(f"nisa.dma_copy: rows that are skipped keep what a tile of {table.dtype} held; dst is {other!r}", "8.2")


def _fixed(call: Call, *names: str) -> None:
    """Refuses views with an index of the device."""
    for name in names:
        for view in call.arguments[name] if isinstance(call.arguments[name], (list, tuple)) else (call.arguments[name],):
            if view.indirection is not None:
                raise KernelError(f"nisa.{call.operation}: the place of {name}, {view!r}, must be known before the run", "8.2")


def _dma_transpose(call: Call) -> None:
    dst, src = operands.tensor(call, "dst"), operands.tensor(call, "src")
    _no_psum(call, dst, "dst")
    _no_psum(call, src, "src")
    operands.same_type(call, "dst", "src")
    _fixed(call, "dst", "src")
    axes = _AXES.get(src.ndim)
    given = call.arguments["axes"]
    if axes is None or (given is not None and tuple(given) != axes):
        raise KernelError(
            f"nisa.dma_transpose: axes {given} of a source with {src.ndim} dimensions; possible are (1, 0), (2, 1, 0) and (3, 1, 2, 0)",
            "8.2",
        )
    if dst.size != src.size:
        raise KernelError(f"nisa.dma_transpose: dst is {dst!r} and src is {src!r}; the numbers of elements must agree", "12")


def _dma_compute(call: Call) -> None:
    dst = operands.tensor(call, "dst")
    sources = call.arguments["srcs"]
    if not 1 <= len(sources) <= MAX_DMA_SOURCES:
        raise KernelError(f"nisa.dma_compute: {len(sources)} sources; possible are 1 to {MAX_DMA_SOURCES}", "14")
    operands.operator(call, "reduce_op", operators.add)
    _fixed(call, "dst")
    if dst.shape[0] > PARTITIONS:
        raise KernelError(f"nisa.dma_compute: dst is {dst!r}; at most {PARTITIONS} rows are possible", "14")
    indexed = [source for source in sources if source.indirection is not None]
    if not all(has_kind(source, "vector") for source in indexed) or (indexed and call.arguments["oob_mode"] is oob_mode.skip):
        raise KernelError("nisa.dma_compute: sources are tensors and rows by index, none of them skipped", "14")
    if any(scale != 1.0 for scale in call.arguments["scales"] or ()):
        raise KernelError("nisa.dma_compute: all scales must be 1.0", "14")
    for source in sources:
        if not data_types.is_computed(source.dtype) or not data_types.is_computed(dst.dtype):
            raise KernelError(f"nisa.dma_compute: {source!r} and {dst!r}; no engine adds them", "3.1")
        if source.size != dst.size:
            raise KernelError(f"nisa.dma_compute: source {source!r} and dst {dst!r} differ in size", "14")
    for name, view in (("dst", dst), *(("srcs", source) for source in sources)):
        if view.is_on_chip:  # where Vector reads or writes it
            operands.place(call, name, view)


def _sendrecv(call: Call) -> None:
    operands.tile(call, "dst", sbuf)
    operands.tile(call, "src", sbuf)
    operands.same_size(call, "dst", "src")
    operands.same_type(call, "dst", "src")
    for name in ("send_to_rank", "recv_from_rank"):
        if call.arguments[name] not in (0, 1):
            raise KernelError(f"nisa.sendrecv: {name} is {call.arguments[name]}; a logical core has cores 0 and 1", "6")
    _fixed(call, "dst", "src")


def _core_barrier(call: Call) -> None:
    _fixed(call, "data")
    if tuple(call.arguments["cores"]) != (0, 1):
        raise KernelError("nisa.core_barrier: cores must be (0, 1)", "6")


def _one_element(call: Call) -> None:
    name = "src" if call.operation == "register_load" else "dst"
    tensor = operands.tensor(call, name)
    _fixed(call, name)
    if tensor.is_on_chip:
        operands.place(call, name, tensor)
    if tensor.size != 1:
        raise KernelError(f"nisa.{call.operation}: {name} must have one element; it is {tensor!r}", "8.1")
    if not data_types.is_computed(tensor.dtype) or (name == "src" and not tensor.dtype.is_integer):
        raise KernelError(f"nisa.{call.operation}: {name} is {tensor!r}; a register holds an integer of up to 32 bits", "8.1")


RULES = {
    "dma_copy": _dma_copy,
    "dma_transpose": _dma_transpose,
    "dma_compute": _dma_compute,
    "sendrecv": _sendrecv,
    "core_barrier": _core_barrier,
    "register_load": _one_element,
    "register_store": _one_element,
}
