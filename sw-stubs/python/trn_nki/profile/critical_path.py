# SPDX-License-Identifier: Apache-2.0
"""The chain of instructions, copies and waits that determined the time of an execution.

It is followed from the end back to the start: an instruction that waited for a semaphore begins after the instruction or copy
that posted it, another one after its predecessor on the same engine. The parts of the chain add up to the execution.
"""
from __future__ import annotations

import collections
import dataclasses
from typing import Iterator

from trn_nki.profile.records import Cause, Engine, Instruction, Profile, Wait

COPIES = "copies"  # by DMA, from the instruction that starts one to the wait that its end ends
SIGNALS = "signals"  # semaphores of engines, from the end of an instruction to the next one of another engine
LATENCY = "latency"  # an engine waits for results of its own instructions
REST = "rest"  # control instructions, ports, program words, issue, and what no event explains


@dataclasses.dataclass
class Path:
    """Times in ps by kind, which is one of the above or the name of an engine that computes, and by kind and source line."""

    kinds: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    lines: dict[str, collections.Counter[str]] = dataclasses.field(default_factory=dict)

    def add(self, kind: str, source: str, time: int) -> None:
        if time > 0:
            self.kinds[kind] += time
            self.lines.setdefault(kind, collections.Counter())[source] += time


def critical_path(profile: Profile) -> Path:
    path = Path()
    time = profile.last
    instruction = _last(profile)
    before_each = {id(step): before for engine in profile.engines for step, before in _predecessors(engine)}
    while instruction is not None and time > profile.first:
        begin = max(profile.first, min(time, instruction.begin))
        end = min(time, max(begin, instruction.busy_until))
        path.add(LATENCY if instruction.computes and time <= instruction.complete else REST, instruction.source, time - end)
        path.add(instruction.engine.name if instruction.computes else REST, instruction.source, end - begin)
        time = begin
        wait = _awaited(instruction, time)
        poster = profile.posters.get(wait.poster) if wait is not None else None
        if wait is not None and poster is not None and poster.begin < time:
            if wait.cause is Cause.DMA:
                end = max(profile.first, min(time, poster.end))
                path.add(COPIES, poster.source, time - end)
            else:
                end = max(profile.first, min(time, poster.complete))
                path.add(SIGNALS, instruction.source, time - end)
            time, instruction = end, poster
            continue
        before = before_each[id(instruction)]
        end = profile.first if before is None else max(profile.first, min(time, before.busy_until))
        own = sum(
            min(time, step.end) - max(end, step.begin)
            for step in instruction.waits
            if step.cause is Cause.DEPENDENCY and step.end > end and step.begin < time
        )
        latency = min(own, time - end)
        path.add(LATENCY, instruction.source, latency)
        path.add(REST, instruction.source, time - end - max(0, latency))
        time, instruction = end, before
    path.add(REST, "", time - profile.first)
    return path


def _last(profile: Profile) -> Instruction | None:
    """The instruction that ended last."""
    instructions = [instruction for engine in profile.engines for instruction in engine.instructions]
    return max(instructions, key=lambda instruction: (instruction.end, instruction.id)) if instructions else None


def _predecessors(engine: Engine) -> Iterator[tuple[Instruction, Instruction | None]]:
    """Each instruction with the earlier one that occupied the engine longest: a load of a matrix may end during a product."""
    longest: Instruction | None = None
    for instruction in engine.instructions:
        yield instruction, longest
        if longest is None or instruction.busy_until >= longest.busy_until:
            longest = instruction


def _awaited(instruction: Instruction, time: int) -> Wait | None:
    """The wait of an instruction for a semaphore that ended last."""
    waits = [wait for wait in instruction.waits if wait.cause in (Cause.SEMAPHORE, Cause.DMA) and wait.begin < wait.end <= time]
    return max(waits, key=lambda wait: wait.end) if waits else None
