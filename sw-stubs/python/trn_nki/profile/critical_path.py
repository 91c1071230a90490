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
    at = profile.last
    one = _last(profile)
    before_each = {id(step): before for engine in profile.engines for step, before in _predecessors(engine)}
    while one is not None and at > profile.first:
        begin = max(profile.first, min(at, one.begin))
        end = min(at, max(begin, one.busy_until))
        path.add(LATENCY if one.computes and at <= one.complete else REST, one.source, at - end)
        at = end
        path.add(one.engine.name if one.computes else REST, one.source, at - begin)
        at = begin
        wait = _awaited(one, at)
        poster = profile.posters.get(wait.poster) if wait is not None else None
        if wait is not None and poster is not None and poster.begin < at:
            if wait.cause is Cause.DMA:
                end = max(profile.first, min(at, poster.end))
                path.add(COPIES, poster.source, at - end)
            else:
                end = max(profile.first, min(at, poster.complete))
                path.add(SIGNALS, one.source, at - end)
            at, one = end, poster
            continue
        before = before_each[id(one)]
        end = profile.first if before is None else max(profile.first, min(at, before.busy_until))
        own = sum(
            min(at, step.end) - max(end, step.begin)
            for step in one.waits
            if step.cause is Cause.DEPENDENCY and step.end > end and step.begin < at
        )
        path.add(LATENCY, one.source, min(own, at - end))
        path.add(REST, one.source, at - end - max(0, min(own, at - end)))
        at, one = end, before
    path.add(REST, "", at - profile.first)
    return path


def _last(profile: Profile) -> Instruction | None:
    """The instruction that ended last."""
    return max((one for engine in profile.engines for one in engine.instructions), key=lambda one: (one.end, one.id), default=None)


def _predecessors(engine: Engine) -> Iterator[tuple[Instruction, Instruction | None]]:
    """Each instruction with the earlier one that occupied the engine longest: a load of a matrix may end during a product."""
    longest: Instruction | None = None
    for one in engine.instructions:
        yield one, longest
        if longest is None or one.busy_until >= longest.busy_until:
            longest = one


def _awaited(one: Instruction, at: int) -> Wait | None:
    """The wait of an instruction for a semaphore that ended last."""
    waits = [wait for wait in one.waits if wait.cause in (Cause.SEMAPHORE, Cause.DMA) and wait.end > wait.begin and wait.end <= at]
    return max(waits, key=lambda wait: wait.end, default=None)
