# SPDX-License-Identifier: Apache-2.0
"""Records of one execution, from which profiles are made. Times are simulated, in ps."""
from __future__ import annotations

import dataclasses
import enum
import functools
from typing import Any, Callable, TypeVar

from trn_nki.profile.events import Place

Result = TypeVar("Result")


class Cause(str, enum.Enum):
    """Why an engine could not continue."""

    SEMAPHORE = "semaphore"  # posted by an engine, the host or firmware; or an event
    DMA = "dma"  # a semaphore or an event that DMA posted
    DEPENDENCY = "dependency"  # on results or operands of its own earlier instructions
    PORT = "port"  # of SBUF or PSUM that another engine used
    FETCH = "fetch"  # of program words


@dataclasses.dataclass(slots=True)
class Wait:
    begin: int
    end: int
    cause: Cause
    reason: str  # "S[4] >= 16", "overlap"
    cycles: int | None = None  # None: the wait did not end in the record
    poster: int = 0  # operation that ended the wait


@dataclasses.dataclass(slots=True)
class Instruction:
    id: int
    engine: "Engine"
    begin: int
    end: int
    pc: int
    opcode: str
    operands: str = ""
    source: str = ""  # "kernel.py:12"; "": unknown
    operation: int = 0  # operation that began the wait
    count: int = 1  # instructions of a run of register instructions
    mode: str = ""  # "2x"; "" of control instructions
    cycles: int = 0  # initiation interval
    latency_cycles: int = 0
    flops: int = 0
    bf16_flops: int = 0
    bytes_read: int = 0  # of SBUF and PSUM
    bytes_written: int = 0
    psum_bytes_read: int = 0
    psum_bytes_written: int = 0
    waits: list[Wait] = dataclasses.field(default_factory=list)  # before it

    @property
    def computes(self) -> bool:
        """Whether it is an instruction of the data path."""
        return self.mode != ""

    @property
    def busy_until(self) -> int:
        """It occupies the engine's data path, or its processor, until then."""
        if self.computes or not self.engine.clock_hz:
            return self.end if self.computes else self.begin
        return min(self.end, self.begin + self.cycles * 10**12 // self.engine.clock_hz)

    @property
    def complete(self) -> int:
        """When its results are visible."""
        if not self.computes or not self.cycles:
            return self.end
        return self.begin + (self.end - self.begin) * self.latency_cycles // self.cycles


@dataclasses.dataclass(slots=True)
class Engine:
    place: Place
    clock_hz: int = 0
    generation: int = 0
    instructions: list[Instruction] = dataclasses.field(default_factory=list)
    waits: list[Wait] = dataclasses.field(default_factory=list)
    unmet: list[Wait] = dataclasses.field(default_factory=list)  # that no instruction follows
    started: int = 0
    ended: int | None = None  # halted or failed; None: still running at the end of the record

    @property
    def name(self) -> str:
        return self.place.part

    @property
    def core(self) -> tuple[str, int]:
        return self.place.chip, self.place.index


@dataclasses.dataclass(slots=True)
class Transfer:
    """A descriptor's transfer by a DMA engine."""

    place: Place
    begin: int
    end: int
    queue: int
    bytes: int
    source: int
    destination: int
    operation: int
    kind: str  # "copy", or the operation of DMA compute
    completed: bool


@dataclasses.dataclass(slots=True)
class Access:
    """Bytes that occupy a memory: an HBM stack, or SBUF and PSUM of a core when DMA accesses them."""

    place: Place
    begin: int
    end: int
    writes: bool
    bytes: int
    operation: int


@dataclasses.dataclass(slots=True)
class SemaphoreChange:
    place: Place
    time: int
    index: int
    value: int
    initiator: str  # "engine", "dma", "host", "firmware"
    operation: int
    is_event: bool


@dataclasses.dataclass(slots=True)
class Failure:
    engine: Engine
    time: int
    pc: int
    error: str
    detail: int


@dataclasses.dataclass(slots=True)
class Service:
    """Activity of a CC-Core from an interrupt until it sleeps."""

    place: Place
    begin: int
    end: int
    operation: int


def kept(function: Callable[[Profile], Result]) -> Callable[[Profile], Result]:
    """Computes a function of a complete profile once."""

    @functools.wraps(function)
    def lookup(profile: Profile) -> Result:
        if function.__name__ not in profile.kept:
            profile.kept[function.__name__] = function(profile)
        return profile.kept[function.__name__]

    return lookup


@dataclasses.dataclass
class Profile:
    name: str
    first: int = 0  # the first engine starts
    last: int = 0  # the last engine ends
    number: int = 1  # of the executions in the record, from 1
    executions: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    engines: list[Engine] = dataclasses.field(default_factory=list)
    transfers: list[Transfer] = dataclasses.field(default_factory=list)
    accesses: list[Access] = dataclasses.field(default_factory=list)
    semaphores: list[SemaphoreChange] = dataclasses.field(default_factory=list)
    failures: list[Failure] = dataclasses.field(default_factory=list)
    services: list[Service] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    tensors: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # of the kernel, where it is known
    posters: dict[int, Instruction] = dataclasses.field(default_factory=dict)  # by operation
    kept: dict[str, Any] = dataclasses.field(default_factory=dict)  # results of functions, by name

    @property
    def duration(self) -> int:
        return max(1, self.last - self.first)

    @functools.cached_property
    def cores(self) -> list[tuple[str, int]]:
        """The cores that ran. Precondition: `engines` is complete."""
        return sorted({engine.core for engine in self.engines})

    @functools.cached_property
    def core_numbers(self) -> dict[tuple[str, int], int]:
        """Of the cores of a chip that ran: 0, 1, ..."""
        return {core: sum(other[0] == core[0] for other in self.cores[:number]) for number, core in enumerate(self.cores)}
