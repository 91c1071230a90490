# SPDX-License-Identifier: Apache-2.0
"""Chooses the engine of an instruction whose call does not name one: doc/spec/neuron-core.md, 15.3."""
from __future__ import annotations

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.instructions import Instruction
from trn_nki.values.operations import Operation
from trn_nki.values import data_types, operators
from trn_nki.values.engines import engine
from trn_nki.values.generations import Generation
from trn_nki.values.memory_regions import MemoryRegion, psum

_WIDE = (data_types.int32, data_types.uint32)


class EngineChoice:
    """Keeps the elements given to Vector and GPSIMD, between which memset alternates by load."""

    def __init__(self) -> None:
        self._load = {engine.vector: 0, engine.gpsimd: 0}

    def resolve(self, instruction: Instruction, operation: Operation, generation: Generation) -> None:
        """Sets instruction.engine. Raises KernelError for an engine that cannot execute the operation."""
        chosen = instruction.engine
        if operation.engines[0] is engine.dma:
            chosen = engine.dma  # the argument is the queue's owner, not the engine that moves data
        elif chosen is engine.unknown:
            chosen = self._open_choice(instruction, operation)
        elif chosen not in operation.engines:
            names = ", ".join(possible.name for possible in operation.engines)
            raise KernelError(f"nisa.{operation.name} cannot run on the {chosen.name} engine, only on {names}", "8")
        if chosen in self._load:
            written = instruction.arguments.get("dst")
            self._load[chosen] += written.free_size if isinstance(written, NkiTensor) else 1
        instruction.engine = chosen

    def _open_choice(self, instruction: Instruction, operation: Operation) -> engine:
        arguments = instruction.arguments
        if operation.name == "memset":
            if arguments["dst"].buffer is psum or self._load[engine.vector] <= self._load[engine.gpsimd]:
                return engine.vector
            return engine.gpsimd
        if operation.name == "tensor_tensor":
            tiles = [arguments[name] for name in ("dst", "data1", "data2")]
            wide = all(isinstance(tile, NkiTensor) and tile.dtype in _WIDE for tile in tiles)
            if arguments["op"] is operators.power or (wide and not arguments["op"].is_bitvec):
                return engine.vector if any(tile.buffer is psum for tile in tiles) else engine.gpsimd
        if operation.name == "tensor_scalar" and {arguments["op0"], arguments["op1"]} & {operators.rsqrt, operators.power}:
            return engine.gpsimd
        if operation.name == "nc_transpose":
            dst, data = arguments["dst"], arguments["data"]
            if dst.buffer is MemoryRegion.sbuf and data.partitions <= 32 and data.free_size <= 32:
                return engine.vector
            return engine.tensor
        return operation.engines[0]
