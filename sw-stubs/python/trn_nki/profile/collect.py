# SPDX-License-Identifier: Apache-2.0
"""From events to the records of one execution."""
from __future__ import annotations

import collections
from typing import Any, Iterable

from trn_nki.profile.events import ENGINES, Event, Kind
from trn_nki.profile.records import Access, Cause, Engine, Failure, Instruction, Profile, SemaphoreChange, Service, Transfer, Wait

RESTART_PS = 5_000_000  # engines that start within this time after the others ended belong to the same execution
_CAUSES = {"overlap": Cause.DEPENDENCY, "drain": Cause.DEPENDENCY, "port": Cause.PORT, "fetch": Cause.FETCH}
_ENDS = ("halted", "failed")


class ProfileError(Exception):
    """The events have no execution, or not the requested one."""


def executions_of(events: Iterable[Event]) -> list[tuple[int, int | None]]:
    """Begin and end of each execution: the time in which engines run that were started together. None: no end."""
    found: list[tuple[int, int | None]] = []
    running: set[str] = set()
    seen: set[str] = set()
    for event in events:
        if event.place.kind is not Kind.ENGINE:
            continue
        module = event.place.module
        if event.name == "started":
            fresh = module not in seen and bool(found)
            joins = fresh and (running or (found[-1][1] is not None and event.time - found[-1][1] < RESTART_PS))
            if joins:
                found[-1] = (found[-1][0], None)
            else:
                found.append((event.time, None))
                running.clear()
                seen.clear()
            running.add(module)
            seen.add(module)
        elif event.name in _ENDS and module in running:
            running.discard(module)
            if not running:
                found[-1] = (found[-1][0], event.time)
    return found


def collect(events: Iterable[Event], number: int | None = None, name: str = "program", chip: str | None = None) -> Profile:
    """The records of execution `number`, from 1; the last one without. Raises ProfileError, EventError."""
    kept = [event for event in events if chip is None or event.place.chip == chip]
    all_executions = executions_of(kept)
    if not all_executions:
        place = f" on {chip}" if chip else ""
        raise ProfileError(f"no engine of a NeuronCore was started{place}: run a program while events are recorded")
    number = len(all_executions) if number is None else number
    if not 1 <= number <= len(all_executions):
        raise ProfileError(f"there is no execution {number}: {len(all_executions)} in the record")
    last_end = all_executions[-1][1]
    end_of_record = max(event.time + (event.duration or 0) for event in kept) if last_end is None else last_end
    followings = [begin for begin, _ in all_executions[1:]] + [end_of_record]
    bounds = [(begin, following if end is None else end) for (begin, end), following in zip(all_executions, followings)]
    first, last = bounds[number - 1]
    profile = Profile(name, first, last, number, bounds)
    if all_executions[number - 1][1] is None:
        profile.warnings.append("the execution did not end in the record; it is shown up to the next one, or to the end of the record")
    collector = _Collector(profile)
    upper = all_executions[number][0] if number < len(all_executions) else None
    for event in kept:
        if event.time + (event.duration or 0) >= first and (upper is None or event.time < upper):
            collector.add(event)
    collector.finish()
    return profile


class _Collector:
    def __init__(self, profile: Profile):
        self._profile = profile
        self._engines: dict[str, Engine] = {}
        self._pending: dict[str, list[Wait]] = collections.defaultdict(list)  # of the next instruction
        self._open_waits: dict[str, Wait] = {}
        self._moving: dict[tuple[str, int, int], collections.deque[Transfer]] = collections.defaultdict(collections.deque)
        self._counted: dict[str, dict[str, Any]] = {}  # of the next control instruction
        self._serving: dict[str, Service] = {}
        self._ids = 0

    def add(self, event: Event) -> None:
        kind = event.place.kind
        if kind is Kind.ENGINE:
            self._add_engine(event)
        elif kind is Kind.DMA:
            self._add_transfer(event)
        elif event.duration is not None and kind in (Kind.MEMORY, Kind.CORE):
            if event.time <= self._profile.last and event.name in ("read", "write"):
                self._profile.accesses.append(
                    Access(
                        event.place,
                        event.time,
                        event.time + event.duration,
                        event.name == "write",
                        event.fields.get("bytes", 0),
                        event.operation,
                    )
                )
        elif kind is Kind.CORE and event.name in ("semaphore", "event"):
            if self._profile.first <= event.time <= self._profile.last:
                get = event.fields.get
                self._profile.semaphores.append(
                    SemaphoreChange(
                        event.place, event.time, get("index", 0), get("value", 0), get("by", ""), event.operation, event.name == "event"
                    )
                )
        elif kind is Kind.CC_HART:
            self._add_service(event)

    def finish(self) -> None:
        profile = self._profile
        order = {engine: number for number, engine in enumerate(ENGINES)}
        profile.engines = sorted(self._engines.values(), key=lambda engine: (engine.place.chip, engine.place.index, order[engine.name]))
        for wait in self._open_waits.values():
            wait.end = profile.last
        for queue in self._moving.values():
            profile.transfers += queue  # transfers without an end
        for engine in profile.engines:
            engine.unmet = self._pending.get(engine.place.module, [])
        for service in self._serving.values():
            service.end = profile.last
            profile.services.append(service)
        profile.transfers.sort(key=lambda transfer: (transfer.begin, transfer.place.module, transfer.queue))
        for engine in profile.engines:
            profile.posters |= {poster.operation: poster for poster in engine.instructions if poster.operation}

    # -- Engines

    def _add_engine(self, event: Event) -> None:
        module, get = event.place.module, event.fields.get
        engine = self._engines.get(module)
        if event.name == "started":
            if engine is None:
                engine = self._engines[module] = Engine(event.place, started=event.time)
            engine.clock_hz, engine.generation = get("clock_hz", 0), get("generation", 0)
            engine.ended = None
        elif engine is None:
            return  # before its start: of an earlier execution
        elif event.name in _ENDS:
            engine.ended = event.time
            if event.name == "failed":
                self._profile.failures.append(Failure(engine, event.time, get("pc", 0), get("error", ""), get("detail", 0)))
        elif event.name == "wait":
            self._add_wait(engine, event)
        elif event.name == "counted":
            self._counted[module] = event.fields
        elif event.name in ("met", "abandoned"):
            self._end_wait(module, event)
        elif event.duration is not None:
            self._add_instruction(engine, event)

    def _add_wait(self, engine: Engine, event: Event) -> None:
        reason = str(event.fields.get("reason", ""))
        wait = Wait(
            event.time, event.time + (event.duration or 0), _CAUSES.get(reason, Cause.SEMAPHORE), reason, event.fields.get("cycles")
        )
        engine.waits.append(wait)
        self._pending[event.place.module].append(wait)
        if event.duration is None:
            self._open_waits[event.place.module] = wait

    def _end_wait(self, module: str, event: Event) -> None:
        wait = self._open_waits.pop(module, None)
        if wait is None:
            return
        wait.end, wait.poster = event.time, event.operation
        wait.cycles = event.fields.get("cycles")
        if event.fields.get("by") == "dma":
            wait.cause = Cause.DMA

    def _add_instruction(self, engine: Engine, event: Event) -> None:
        get: Any = (self._counted.pop(event.place.module, {}) | event.fields).get
        self._ids += 1
        instruction = Instruction(
            self._ids,
            engine,
            event.time,
            event.time + (event.duration or 0),
            get("pc", 0),
            event.name,
            get("text", ""),
            get("source", ""),
            event.operation,
            get("instructions", 1),
            get("mode", ""),
            get("cycles", 0),
            get("latency_cycles", 0),
            get("flops", 0),
            get("bf16_flops", 0),
            get("bytes_read", 0),
            get("bytes_written", 0),
            get("psum_bytes_read", 0),
            get("psum_bytes_written", 0),
        )
        instruction.waits = self._pending.pop(event.place.module, [])
        engine.instructions.append(instruction)

    # -- DMA

    def _add_transfer(self, event: Event) -> None:
        get = event.fields.get
        if "from" in event.fields and "to" in event.fields:
            if event.time <= self._profile.last:
                transfer = Transfer(
                    event.place,
                    event.time,
                    self._profile.last,
                    get("queue", 0),
                    get("bytes", 0),
                    get("from", 0),
                    get("to", 0),
                    event.operation,
                    event.name,
                    False,
                )
                self._moving[event.place.module, transfer.queue, transfer.operation].append(transfer)
        elif event.name in ("completed", "dropped"):
            waiting = self._moving.get((event.place.module, get("queue", 0), event.operation))
            if waiting:
                transfer = waiting.popleft()
                transfer.end, transfer.completed = event.time, event.name == "completed"
                self._profile.transfers.append(transfer)

    # -- Collectives

    def _add_service(self, event: Event) -> None:
        module = event.place.module
        if event.name == "serves" and event.time <= self._profile.last:
            self._serving[module] = Service(event.place, event.time, event.time, event.operation)
        elif event.name == "sleeps" and module in self._serving:
            service = self._serving.pop(module)
            service.end = event.time
            if service.end >= self._profile.first:
                self._profile.services.append(service)
