# SPDX-License-Identifier: Apache-2.0
"""Rules of DMA, copies between cores, and registers."""
from __future__ import annotations

from typing import Any

from trn_nki.checks import operands
from trn_nki.diagnostics.errors import KernelError
from trn_nki.values import operators
from trn_nki.values.memory_regions import psum, sbuf

_AXES = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
MAX_DMA_SOURCES = 16


def _no_psum(call: Any, tensor: Any, name: str) -> None:
    if tensor.buffer is psum:
        raise KernelError(f"nisa.{call.operation}: DMA does not reach PSUM, where {name} is", "19")


def _dma_copy(call: Any) -> None:
    dst, src = operands.tensor(call, "dst"), operands.tensor(call, "src")
    _no_psum(call, dst, "dst")
    _no_psum(call, src, "src")
    if dst.size != src.size:
        raise KernelError(f"nisa.dma_copy: dst is {dst!r} and src is {src!r}; the numbers of elements must agree", "12")


def _dma_transpose(call: Any) -> None:
    dst, src = operands.tensor(call, "dst"), operands.tensor(call, "src")
    _no_psum(call, dst, "dst")
    _no_psum(call, src, "src")
    operands.same_type(call, "dst", "src")
    axes = _AXES.get(src.ndim)
    given = call.arguments["axes"]
    if axes is None or (given is not None and tuple(given) != axes):
        raise KernelError(f"nisa.dma_transpose: axes {given} of a source with {src.ndim} dimensions; possible are "
                          "(1, 0), (2, 1, 0) and (3, 1, 2, 0)", "8.2")
    if dst.size != src.size:
        raise KernelError(f"nisa.dma_transpose: dst is {dst!r} and src is {src!r}; the numbers of elements must agree",
                          "12")


def _dma_compute(call: Any) -> None:
    dst = operands.tensor(call, "dst")
    sources = call.arguments["srcs"]
    if not 1 <= len(sources) <= MAX_DMA_SOURCES:
        raise KernelError(f"nisa.dma_compute: {len(sources)} sources; possible are 1 to {MAX_DMA_SOURCES}", "14")
    operands.operator(call, "reduce_op", operators.add)
    if any(scale != 1.0 for scale in call.arguments["scales"] or ()):
        raise KernelError("nisa.dma_compute: all scales must be 1.0", "14")
    for source in sources:
        if source.size != dst.size:
            raise KernelError(f"nisa.dma_compute: source {source!r} and dst {dst!r} differ in size", "14")


def _sendrecv(call: Any) -> None:
    operands.tile(call, "dst", sbuf)
    operands.tile(call, "src", sbuf)
    operands.same_size(call, "dst", "src")
    operands.same_type(call, "dst", "src")
    for name in ("send_to_rank", "recv_from_rank"):
        if call.arguments[name] not in (0, 1):
            raise KernelError(f"nisa.sendrecv: {name} is {call.arguments[name]}; a logical core has cores 0 and 1", "6")


def _core_barrier(call: Any) -> None:
    if tuple(call.arguments["cores"]) != (0, 1):
        raise KernelError("nisa.core_barrier: cores must be (0, 1)", "6")


def _one_element(call: Any) -> None:
    name = "src" if call.operation == "register_load" else "dst"
    tensor = operands.tensor(call, name)
    if tensor.size != 1:
        raise KernelError(f"nisa.{call.operation}: {name} must have one element; it is {tensor!r}", "8.1")


RULES = {"dma_copy": _dma_copy, "dma_transpose": _dma_transpose, "dma_compute": _dma_compute, "sendrecv": _sendrecv,
         "core_barrier": _core_barrier, "register_load": _one_element, "register_store": _one_element}
