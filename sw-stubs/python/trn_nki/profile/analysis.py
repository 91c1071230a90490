# SPDX-License-Identifier: Apache-2.0
"""Sums over the records of a profile. Times in ps; rates per second."""
from __future__ import annotations

import collections
import dataclasses
import re

from trn_nki.profile import intervals
from trn_nki.profile.events import Kind
from trn_nki.profile.records import Cause, Engine, Instruction, Profile, kept

PS = 10**12  # per second
ARRAY = 128  # rows and columns of the Tensor engine (neuron-core.md, 1)
TENSOR_HZ = {2: 2_800_000_000, 3: 2_400_000_000, 4: 2_400_000_000}  # by generation (neuron-core.md, 1)
GENERATORS = {
    "dma_start": "data",
    "dge_copy": "hardware_dynamic",
    "dma_gather": "software_dynamic",
    "dma_scatter": "software_dynamic",
    "dma_gather_transpose": "software_dynamic",
}
_TYPE = re.compile(r"\ba=\w+\[[^\]]*\] (\w+)")


@dataclasses.dataclass
class Account:
    """Division of an engine's time. The parts add up to the duration of the execution."""

    engine: Engine
    busy: int  # an instruction occupies the data path
    lost: dict[Cause, int]  # waits while no instruction occupies the data path
    control: int  # executes control instructions
    outside: int  # before its start and after its end
    other: int  # the rest: issue, wake-up
    busy_cycles: int  # as the engine's counters: sums over instructions
    wait_cycles: dict[Cause, int]  # and waits, which may overlap with busy times
    retired: int
    flops: int
    bf16_flops: int
    bytes_read: int
    bytes_written: int
    psum_bytes_read: int
    psum_bytes_written: int
    by_mode: dict[str, int]


@dataclasses.dataclass
class Line:
    """Costs of the instructions of one source line."""

    source: str
    instructions: int = 0
    busy: dict[str, int] = dataclasses.field(default_factory=lambda: collections.defaultdict(int))  # by engine
    lost: dict[Cause, int] = dataclasses.field(default_factory=lambda: collections.defaultdict(int))
    flops: int = 0
    hbm_bytes: int = 0
    transfers: int = 0
    transfer_bytes: int = 0
    transfer_time: int = 0  # with at least one of its transfers in progress

    @property
    def cost(self) -> int:
        return sum(self.busy.values()) + sum(self.lost.values())


@dataclasses.dataclass
class Roofline:
    flops: int  # of matmuls and, without any, of all engines
    of_tensor: bool
    hbm_bytes: int
    seconds: float
    peak_flops: float  # of BF16 matmuls on the cores that ran
    peak_bandwidth: float  # of the used HBM stacks; 0: none

    @property
    def intensity(self) -> float | None:
        return self.flops / self.hbm_bytes if self.hbm_bytes else None

    @property
    def achieved(self) -> float:
        return self.flops / self.seconds


def account_of(engine: Engine, profile: Profile) -> Account:
    first, last = profile.first, profile.last
    every = engine.instructions
    computing = [instruction for instruction in every if instruction.computes]
    taken = intervals.clipped(intervals.union((instruction.begin, instruction.busy_until) for instruction in every), first, last)
    busy = intervals.length(taken)
    lost: dict[Cause, int] = {}
    for cause in Cause:
        waits = intervals.clipped(intervals.union((w.begin, w.end) for w in engine.waits if w.cause is cause), first, last)
        lost[cause] = intervals.length(intervals.without(waits, taken))
        taken = intervals.union(taken + waits)
    control = intervals.clipped(
        intervals.union((instruction.begin, instruction.end) for instruction in engine.instructions if not instruction.computes),
        first,
        last,
    )
    control_time = intervals.length(intervals.without(control, taken))
    taken = intervals.union(taken + control)
    ended = last if engine.ended is None else engine.ended
    absent = [(first, max(first, engine.started)), (max(first, ended), last)]
    outside = intervals.length(intervals.without(intervals.union(absent), taken))
    other = profile.duration - busy - sum(lost.values()) - control_time - outside
    modes = collections.Counter(instruction.mode for instruction in computing)
    return Account(
        engine,
        busy,
        lost,
        control_time,
        outside,
        other,
        sum(instruction.cycles for instruction in every),
        {cause: sum(w.cycles or 0 for w in engine.waits if w.cause is cause) for cause in Cause},
        sum(instruction.count for instruction in engine.instructions),
        sum(instruction.flops for instruction in computing),
        sum(instruction.bf16_flops for instruction in computing),
        sum(instruction.bytes_read for instruction in every),
        sum(instruction.bytes_written for instruction in every),
        sum(instruction.psum_bytes_read for instruction in every),
        sum(instruction.psum_bytes_written for instruction in every),
        dict(modes),
    )


@kept
def accounts_of(profile: Profile) -> list[Account]:
    return [account_of(engine, profile) for engine in profile.engines]


def lost_by_instruction(engine: Engine) -> dict[int, dict[Cause, int]]:
    """Wait times by the id of the awaited instruction, without times that an earlier instruction covers."""
    found: dict[int, dict[Cause, int]] = {}
    busy_until = 0
    for instruction in engine.instructions:
        covered = busy_until
        for wait in instruction.waits:
            begin = max(wait.begin, covered)
            if wait.end > begin:
                lost = found.setdefault(instruction.id, {})
                lost[wait.cause] = lost.get(wait.cause, 0) + wait.end - begin
                covered = wait.end
        busy_until = max(busy_until, instruction.busy_until)
    return found


class _Lines(dict[str, Line]):
    def __missing__(self, source: str) -> Line:
        return self.setdefault(source, Line(source))


@kept
def lines_of(profile: Profile) -> list[Line]:
    """The costs of all lines, the most expensive first."""
    found = _Lines()
    for engine in profile.engines:
        lost = lost_by_instruction(engine)
        for instruction in engine.instructions:
            here = found[instruction.source]
            here.instructions += instruction.count
            here.flops += instruction.flops
            if instruction.busy_until > instruction.begin:
                here.busy[engine.name] += instruction.busy_until - instruction.begin
            for cause, time in lost.get(instruction.id, {}).items():
                here.lost[cause] += time
    moving = collections.defaultdict(list)
    for transfer in profile.transfers:
        poster = profile.posters.get(transfer.operation)
        if poster is not None:
            here = found[poster.source]
            here.transfers += 1
            here.transfer_bytes += transfer.bytes
            moving[poster.source].append((transfer.begin, transfer.end))
    for source, spans in moving.items():
        found[source].transfer_time = intervals.length(intervals.union(spans))
    for access in profile.accesses:
        poster = profile.posters.get(access.operation)
        if poster is not None and access.place.kind is Kind.MEMORY:
            found[poster.source].hbm_bytes += access.bytes
    return sorted(found.values(), key=lambda line: (-line.cost - line.transfer_time, line.source))


def hbm_bytes(profile: Profile, writes: bool | None = None) -> int:
    return sum(
        access.bytes for access in profile.accesses if access.place.kind is Kind.MEMORY and (writes is None or access.writes == writes)
    )


def stack_rate(profile: Profile) -> float:
    """Bytes per second at which the model of an HBM stack serves its largest access; 0 without any."""
    largest = max(
        (access for access in profile.accesses if access.place.kind is Kind.MEMORY and access.end > access.begin),
        key=lambda access: access.bytes,
        default=None,
    )
    return largest.bytes * PS / (largest.end - largest.begin) if largest else 0.0


def peak_bf16_flops(profile: Profile) -> float:
    """FLOPs per second of BF16 matmuls on the cores that ran, at their nominal clock."""
    clocks = {engine.core: TENSOR_HZ.get(engine.generation, 0) for engine in profile.engines}
    clocks |= {engine.core: engine.clock_hz for engine in profile.engines if engine.name == "tensor"}
    return float(sum(2 * ARRAY * ARRAY * hertz for hertz in clocks.values()))


@kept
def roofline_of(profile: Profile) -> Roofline:
    tensor = sum(instruction.flops for engine in profile.engines if engine.name == "tensor" for instruction in engine.instructions)
    every = sum(instruction.flops for engine in profile.engines for instruction in engine.instructions)
    stacks = {access.place.module for access in profile.accesses if access.place.kind is Kind.MEMORY}
    return Roofline(
        tensor or every, tensor > 0, hbm_bytes(profile), profile.duration / PS, peak_bf16_flops(profile), stack_rate(profile) * len(stacks)
    )


@dataclasses.dataclass
class TypeUse:
    """Matmuls of one element type, or another kind of computation."""

    type: str
    instructions: int = 0
    flops: int = 0
    bf16_flops: int = 0
    busy: int = 0


def types_of(profile: Profile) -> list[TypeUse]:
    """The work of the Tensor engines by the type of the moving operand."""
    found: dict[str, TypeUse] = {}
    for engine in profile.engines:
        if engine.name != "tensor":
            continue
        for instruction in engine.instructions:
            if not instruction.flops:
                continue
            match = _TYPE.search(instruction.operands)
            use = found.setdefault(match.group(1) if match else "unknown", TypeUse(match.group(1) if match else "unknown"))
            use.instructions += 1
            use.flops += instruction.flops
            use.bf16_flops += instruction.bf16_flops
            use.busy += instruction.end - instruction.begin
    return sorted(found.values(), key=lambda use: -use.busy)


def is_transpose(instruction: Instruction) -> bool:
    """Whether a matmul only moves data (transpose mode, from the second generation on)."""
    return instruction.opcode == "multiply" and instruction.operands.endswith(" transpose")


def queue_type(profile: Profile, operation: int) -> str:
    """The published term for the origin of a transfer's descriptors."""
    poster: Instruction | None = profile.posters.get(operation)
    return GENERATORS.get(poster.opcode, "unknown") if poster is not None else "unknown"
