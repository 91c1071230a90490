# SPDX-License-Identifier: Apache-2.0
"""Events of the platform's text trace (doc/timeline.md) that a profile needs."""
from __future__ import annotations

import dataclasses
import enum
import functools
import json
import re
from typing import Any, Callable, Iterable, Iterator

ENGINES = ("tensor", "vector", "scalar", "gpsimd", "sync")
EXPECTED = "expected TIME MODULE EVENT, as `--trace FILE.txt` writes them"
MAX_LINE = 1 << 16  # characters; the platform writes shorter lines


class Kind(enum.Enum):
    ENGINE = "engine"  # of a NeuronCore
    CORE = "core"  # semaphores, notifications and DMA accesses of a NeuronCore
    DMA = "dma"  # a DMA engine
    MEMORY = "memory"  # an HBM stack
    CC_CORE = "cc core"  # of collectives
    CC_HART = "cc hart"


_PLACES = (
    (re.compile(rf"(.+)\.nc(\d+)\.({'|'.join(ENGINES)})"), Kind.ENGINE),
    (re.compile(r"(.+)\.nc(\d+)"), Kind.CORE),
    (re.compile(r"(.+)\.((?:udma|h2t)\d+\.engine\d+)"), Kind.DMA),
    (re.compile(r"(.+)\.hbm(\d+)"), Kind.MEMORY),
    (re.compile(r"(.+)\.top_sp(\d+)"), Kind.CC_CORE),
    (re.compile(r"(.+)\.top_sp(\d+)\.hart"), Kind.CC_HART),
)
_TEXTS = ("source", "text", "reason", "by", "mode", "error")
_NUMBERS = (
    "for",
    "op",
    "pc",
    "cycles",
    "latency_cycles",
    "flops",
    "bf16_flops",
    "bytes_read",
    "bytes_written",
    "psum_bytes_read",
    "psum_bytes_written",
    "instructions",
    "generation",
    "clock_hz",
    "index",
    "bytes",
    "queue",
    "from",
    "to",
    "detail",
)  # from 0 on
_SIGNED = ("value",)
MAX_NUMBER = 1 << 64
MAX_CACHED = 1 << 16  # texts; most are repeated
_UNUSED = {"doorbell", "descriptors", "notification"}  # names of events
_FIELD = re.compile(r' (\w+)=("(?:[^"\\]|\\.)*"|\S+)')


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A module of the platform."""

    kind: Kind
    module: str  # "chip0.nc1.vector"
    chip: str  # "chip0"
    index: int  # of the core, the HBM stack or the CC-Core
    part: str  # "vector", "udma0.engine3"


@dataclasses.dataclass(slots=True)
class Event:
    time: int  # ps
    place: Place
    name: str
    fields: dict[str, Any]

    @property
    def duration(self) -> int | None:
        """ps; None of an event that is not a span."""
        return self.fields.get("for")

    @property
    def operation(self) -> int:
        return self.fields.get("op", 0)


class EventError(Exception):
    """The text is not a trace of the platform."""


def place_of(module: str) -> Place | None:
    for pattern, kind in _PLACES:
        found = pattern.fullmatch(module)
        if found is None:
            continue
        parts = found.groups()
        if kind is Kind.DMA:
            return Place(kind, module, parts[0], 0, parts[1])
        return Place(kind, module, parts[0], int(parts[1]), parts[2] if kind is Kind.ENGINE else "")
    return None


def _number(text: str) -> int:
    number = int(text, 0)
    if not 0 <= number < MAX_NUMBER:
        raise ValueError(f"{text} is out of range")
    return number


def _signed(text: str) -> int:
    number = int(text, 0)
    if not -MAX_NUMBER <= number < MAX_NUMBER:
        raise ValueError(f"{text} is out of range")
    return number


@functools.lru_cache(MAX_CACHED)
def _text(text: str) -> str:
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError(f"expected a text, not {text}")
    return value


# Of the fields that are read.
_CONVERTERS: dict[str, Callable[[str], Any]] = {name: _text for name in _TEXTS}
_CONVERTERS |= {name: _number for name in _NUMBERS} | {name: _signed for name in _SIGNED}


@functools.lru_cache(MAX_CACHED)
def _fields(rest: str) -> dict[str, Any]:
    """The fields that are read. Events with equal text share them."""
    found: dict[str, Any] = {}
    pairs = _FIELD.findall(f" {rest}") if '"' in rest else [part.split("=", 1) for part in rest.split() if "=" in part]
    for name, text in pairs:
        convert = _CONVERTERS.get(name)
        if convert is not None:
            try:
                found[name] = convert(text)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
    return found


def read_events(lines: Iterable[str], name: str = "events") -> Iterator[Event]:
    """The events of engines, DMA engines, memories and CC-Cores, in the order of the trace. Raises EventError."""
    places: dict[str, Place | None] = {}
    for number, line in enumerate(lines, 1):
        head = line.split(" ", 3)
        if len(head) < 3:
            raise EventError(f"{name}:{number}: {EXPECTED}")
        try:
            place = places[head[1]]
        except KeyError:
            if not head[0].isdigit():
                raise EventError(f"{name}:{number}: {EXPECTED}") from None
            place = places[head[1]] = place_of(head[1])
        if place is None or head[2] in _UNUSED:
            continue
        try:
            if len(line) > MAX_LINE:
                raise ValueError(f"more than {MAX_LINE} characters")
            if len(head) > 3:
                yield Event(_number(head[0]), place, head[2], _fields(head[3]))
            else:
                yield Event(_number(head[0]), place, head[2].rstrip("\n"), {})
        except (ValueError, IndexError) as error:
            raise EventError(f"{name}:{number}: {error}") from None
