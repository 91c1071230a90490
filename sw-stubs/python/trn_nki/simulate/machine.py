# SPDX-License-Identifier: Apache-2.0
"""Executes a recording: the cores take turns at barriers and exchanges."""
from __future__ import annotations

from typing import Any, Iterator

import numpy

from trn_nki.checks.collectives import COLLECTIVES, refusal
from trn_nki.diagnostics.errors import KernelError
from trn_nki.simulate import data_movement, formats, lanes, matrices, random_numbers
from trn_nki.simulate.arithmetic import reduce
from trn_nki.simulate.memory import DynamicMemory
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace import host_arrays
from trn_nki.trace.audit import audit
from trn_nki.trace.instructions import Instruction, Loop, WhileLoop
from trn_nki.trace.recording import Recording
from trn_nki.values.engines import engine, reduce_cmd

_OPERATIONS = {**data_movement.OPERATIONS, **lanes.OPERATIONS, **matrices.OPERATIONS, **random_numbers.OPERATIONS}
_MEETINGS = ("sendrecv", "core_barrier")  # both cores must reach them
SIMULATED = frozenset(_OPERATIONS) | frozenset(_MEETINGS)
MAX_PASSES = 1_000_000  # of one loop


class SimulatedCore:
    """State of one core, and access to it for instructions."""

    def __init__(self, recorded: Any, shared: dict[Any, numpy.ndarray]):
        self.generation, self.recorded = recorded.generation, recorded
        self.memory = DynamicMemory(recorded.generation, shared)
        self.accumulators = {one: numpy.zeros(128, numpy.float32) for one in (engine.scalar, engine.vector)}
        self.generators = random_numbers.generators_of(recorded.generation.number)
        self.engine = engine.vector

    # Operands, as [partitions, elements].

    def raw(self, view: NkiTensor) -> numpy.ndarray:
        return self.memory.read(view).reshape(view.shape[0], -1)

    def values(self, view: NkiTensor) -> numpy.ndarray:
        return formats.to_float32(self.raw(view), view.dtype)

    def scalar(self, value: Any) -> numpy.ndarray:
        return self.values(value) if isinstance(value, NkiTensor) else numpy.float32(value)

    def integer(self, value: Any) -> Any:
        return self.raw(value) if isinstance(value, NkiTensor) else 0 if value is None else int(value)

    def store(self, view: NkiTensor, values: numpy.ndarray) -> None:
        self.memory.write(view, formats.from_float32(values, view.dtype))

    def store_raw(self, view: NkiTensor, raw: numpy.ndarray) -> None:
        target = host_arrays.raw_type(view.dtype)
        if raw.dtype != target and raw.dtype.itemsize == numpy.dtype(target).itemsize:
            raw = numpy.ascontiguousarray(raw).view(target)
        self.memory.write(view, raw)

    # Accumulators (3.5).

    def accumulator(self, command: reduce_cmd, operator: Any, lanes_used: int, initial: Any = None) -> numpy.ndarray:
        held = self.accumulators[self.engine][:lanes_used]
        if command in (reduce_cmd.reset, reduce_cmd.reset_reduce):
            held[:] = operator.start
        elif command is reduce_cmd.load_reduce:
            held[:] = numpy.broadcast_to(self.scalar(initial), (lanes_used, 1))[:, 0]
        return held

    def accumulate(
        self, command: reduce_cmd, operator: Any, values: numpy.ndarray, result: NkiTensor | None, initial: Any = None, negate: bool = False
    ) -> None:
        held = self.accumulator(command, operator, len(values), initial)
        if command not in (reduce_cmd.idle, reduce_cmd.reset):
            held[:] = reduce(operator, values, held)
        if result is not None:
            self.store(result, (held * numpy.float32(-1) if negate else held)[:, None])

    # Execution.

    def run(self) -> Iterator[Instruction | None]:
        """Executes the core's list: yields instructions that need the other core, and None after the others."""
        yield from self._run(self.recorded.body)

    def _run(self, body: list[Any]) -> Iterator[Instruction | None]:
        for item in body:
            if isinstance(item, Instruction):
                if item.operation in _MEETINGS:
                    yield item
                else:
                    self._execute(item)
                    yield None
            elif isinstance(item, Loop):
                lower, upper = self.memory.value(item.lower), self.memory.value(item.upper)
                for index in range(lower, upper, item.step):
                    self.memory.registers[item.register] = index
                    yield from self._run(item.body)
            elif isinstance(item, WhileLoop):
                passes = 0
                while self.memory.registers[item.register] != 0:
                    passes += 1
                    if passes > MAX_PASSES:
                        raise KernelError(f"the loop runs more than {MAX_PASSES} times", place=item.place)
                    yield from self._run(item.body)

    def _execute(self, instruction: Instruction) -> None:
        function = _OPERATIONS.get(instruction.operation)
        if instruction.operation in COLLECTIVES:
            raise refusal(instruction, "is not simulated: it needs the other ranks")
        if function is None:
            raise KernelError(f"nisa.{instruction.operation} is not simulated", place=instruction.place)
        self.engine = instruction.engine
        self.memory.place = instruction.place
        self.memory.group = 32 if instruction.engine is engine.tensor else 16
        function(self, instruction.arguments)


def execute(recording: Recording, tensors: list[NkiTensor] | None = None) -> list[host_arrays.HostArray]:
    """Runs all cores and returns the kernel's results in order, or other tensors in HBM. Raises KernelError."""
    audit(recording)
    shared: dict[Any, numpy.ndarray] = {}
    cores = [SimulatedCore(recorded, shared) for recorded in recording.cores]
    with numpy.errstate(all="ignore"):
        _take_turns(cores)
    return [
        host_arrays.HostArray(cores[0].memory.read(output), output.dtype) for output in (recording.outputs if tensors is None else tensors)
    ]


def _take_turns(cores: list[SimulatedCore]) -> None:
    """One instruction of each core after the other, as cores run side by side on a chip."""
    running = [core.run() for core in cores]
    waiting: list[Any] = [None] * len(cores)
    ended = [False] * len(cores)
    while True:
        for number, steps in enumerate(running):
            if not ended[number] and waiting[number] is None:
                try:
                    waiting[number] = next(steps)
                except StopIteration:
                    ended[number] = True
        if all(is_ended or item is not None for is_ended, item in zip(ended, waiting)):
            if all(ended):
                return
            _meet(cores, waiting)
            waiting = [None] * len(cores)


def _meet(cores: list[SimulatedCore], meeting: list[Any]) -> None:
    waiting = next(item for item in meeting if item is not None)
    if len(cores) == 1:
        raise KernelError(f"nisa.{waiting.operation} needs two cores; call kernel[2]", "6", waiting.place)
    if None in meeting or meeting[0].operation != meeting[1].operation:
        raise KernelError(f"one core waits in nisa.{waiting.operation} and the other never comes there", "6", waiting.place)
    if waiting.operation == "sendrecv":
        sent = [core.raw(item.arguments["src"]) for core, item in zip(cores, meeting)]
        for core, item in zip(cores, meeting):
            core.store_raw(item.arguments["dst"], sent[item.arguments["recv_from_rank"]])
