# SPDX-License-Identifier: Apache-2.0
"""Executes a recording: the cores take turns at barriers and exchanges."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator

import numpy

from trn_nki.checks.collectives import COLLECTIVES, refusal
from trn_nki.diagnostics.errors import KernelError
from trn_nki.simulate import data_movement, lanes, matrices, random_numbers
from trn_nki.simulate.core import SimulatedCore
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace import host_arrays
from trn_nki.trace.audit import audit
from trn_nki.trace.instructions import Instruction, Item, Loop
from trn_nki.trace.meetings import MEETINGS, meeting_of
from trn_nki.trace.recording import Recording
from trn_nki.values.engines import engine

if TYPE_CHECKING:
    import numpy.typing as npt

    from trn_nki.tensors.storage import Storage

_OPERATIONS: dict[str, Callable[[SimulatedCore, dict[str, Any]], None]] = {
    **data_movement.OPERATIONS,
    **lanes.OPERATIONS,
    **matrices.OPERATIONS,
    **random_numbers.OPERATIONS,
}
SIMULATED = frozenset(_OPERATIONS) | frozenset(MEETINGS)
MAX_PASSES = 1_000_000  # of one loop


def _steps(core: SimulatedCore, body: list[Item]) -> Iterator[Instruction | None]:
    """Executes a list: yields instructions that need the other core, and None after the others."""
    for item in body:
        if isinstance(item, Instruction):
            if item.operation in MEETINGS:
                yield item
            else:
                _execute(core, item)
                yield None
        elif isinstance(item, Loop):
            lower, upper = core.memory.value(item.lower), core.memory.value(item.upper)
            for index in range(lower, upper, item.step):
                core.memory.registers[item.register] = index
                yield from _steps(core, item.body)
        else:
            passes = 0
            while core.memory.registers[item.register] != 0:
                passes += 1
                if passes > MAX_PASSES:
                    raise KernelError(f"the loop runs more than {MAX_PASSES} times", place=item.place)
                yield from _steps(core, item.body)


def _execute(core: SimulatedCore, instruction: Instruction) -> None:
    function = _OPERATIONS.get(instruction.operation)
    if instruction.operation in COLLECTIVES:
        raise refusal(instruction, "is not simulated: it needs the other ranks")
    if function is None:
        raise KernelError(f"nisa.{instruction.operation} is not simulated", place=instruction.place)
    core.engine = instruction.engine
    core.memory.place = instruction.place
    core.memory.group = 32 if instruction.engine is engine.tensor else 16
    function(core, instruction.arguments)


def execute(recording: Recording, tensors: list[NkiTensor] | None = None) -> list[host_arrays.HostArray]:
    """Runs all cores and returns the kernel's results in order, or other tensors in HBM. Raises KernelError."""
    audit(recording)
    shared: dict[Storage, npt.NDArray[numpy.uint8]] = {}
    cores = [SimulatedCore(recorded, shared) for recorded in recording.cores]
    with numpy.errstate(all="ignore"):
        _take_turns(cores)
    return [
        host_arrays.HostArray(cores[0].memory.read(output), output.dtype) for output in (recording.outputs if tensors is None else tensors)
    ]


def _take_turns(cores: list[SimulatedCore]) -> None:
    """One instruction of each core after the other, as cores run side by side on a chip."""
    running = [_steps(core, core.recorded.body) for core in cores]
    waiting: list[Instruction | None] = [None] * len(cores)
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


def _meet(cores: list[SimulatedCore], reached: list[Instruction | None]) -> None:
    items = meeting_of(reached)
    if items[0].operation == "sendrecv":
        sent = [core.raw(item.arguments["src"]) for core, item in zip(cores, items)]
        for core, item in zip(cores, items):
            core.store_raw(item.arguments["dst"], sent[item.arguments["recv_from_rank"]])
