# SPDX-License-Identifier: Apache-2.0
"""A profile as a trace for Perfetto: Protocol Buffers as its public reference has them."""
from __future__ import annotations

import collections
import os
import struct
from typing import Iterable, Iterator

from trn_nki.profile import intervals
from trn_nki.profile.events import Kind
from trn_nki.profile.records import Engine, Instruction, Profile, Transfer

SAMPLES = 1000  # of a bandwidth
MAX_TRANSFERS = 20_000  # that are slices of their own
# Field numbers (https://perfetto.dev/docs/reference/trace-packet-proto).
_PACKET = 1
_TIMESTAMP, _SEQUENCE, _EVENT, _FLAGS, _DESCRIPTOR = 8, 10, 11, 13, 60
_UUID, _NAME, _PROCESS, _PARENT, _COUNTER = 1, 2, 3, 5, 8
_PID, _PROCESS_NAME, _UNIT_NAME = 1, 6, 6
_ANNOTATION, _TYPE, _TRACK, _EVENT_NAME, _FLOWS, _DOUBLE_VALUE = 4, 9, 11, 23, 47, 44
_UINT_VALUE, _STRING_VALUE, _ANNOTATION_NAME = 3, 6, 10
_BEGIN, _END, _COUNT = 1, 2, 4
_CLEARED = 1

_SHORT = [bytes([value]) for value in range(0x80)]  # most numbers

Slice = tuple[int, int, str, dict[str, "int | str"], list[int]]  # begin, end, name, fields, flows


def _varint(value: int) -> bytes:
    if value <= 0x7F:
        return _SHORT[value]
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _fixed64(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 1) + value


class _Writer:
    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._tracks = 0

    def packet(self, body: bytes) -> None:
        flags = b"" if self.parts else _number(_FLAGS, _CLEARED)
        self.parts.append(_bytes(_PACKET, body + flags + _number(_SEQUENCE, 1)))

    def track(self, name: str, parent: int = 0, process: int = 0, unit: str = "") -> int:
        self._tracks += 1
        body = _number(_UUID, self._tracks)
        if process:
            body += _bytes(_PROCESS, _number(_PID, process) + _bytes(_PROCESS_NAME, name))
        else:
            body += _bytes(_NAME, name) + _number(_PARENT, parent)
        if unit:
            body += _bytes(_COUNTER, _bytes(_UNIT_NAME, unit))
        self.packet(_bytes(_DESCRIPTOR, body))
        return self._tracks

    def event(self, time: int, body: bytes) -> None:
        self.packet(_number(_TIMESTAMP, time) + _bytes(_EVENT, body))

    def slices(self, name: str, parent: int, slices: Iterable[Slice]) -> None:
        """Slices that overlap are drawn on several tracks of one name."""
        lanes: list[tuple[int, int]] = []  # track, free from
        for begin, end, text, fields, flows in sorted(slices, key=lambda piece: (piece[0], piece[1])):
            lane_number = next((number for number, lane in enumerate(lanes) if lane[1] <= begin), None)
            if lane_number is None:
                lane_number = len(lanes)
                lanes.append((self.track(name, parent), 0))
            track = lanes[lane_number][0]
            lanes[lane_number] = track, end
            notes = b"".join(_bytes(_ANNOTATION, _annotation(key, value)) for key, value in fields.items())
            ids = b"".join(_fixed64(_FLOWS, struct.pack("<Q", flow)) for flow in flows)
            self.event(begin, notes + _number(_TYPE, _BEGIN) + _number(_TRACK, track) + _bytes(_EVENT_NAME, text) + ids)
            self.event(end, _number(_TYPE, _END) + _number(_TRACK, track))

    def counter(self, name: str, parent: int, values: Iterable[tuple[int, float]], unit: str) -> None:
        track = self.track(name, parent, unit=unit)
        for time, value in values:
            self.event(time, _number(_TYPE, _COUNT) + _number(_TRACK, track) + _fixed64(_DOUBLE_VALUE, struct.pack("<d", value)))


def _annotation(key: str, value: int | str) -> bytes:
    body = _bytes(_ANNOTATION_NAME, key)
    return body + (_number(_UINT_VALUE, value) if isinstance(value, int) else _bytes(_STRING_VALUE, value))


def perfetto_bytes(profile: Profile) -> bytes:
    """Times in ns from the start of the execution. The same profile gives the same bytes."""
    writer = _Writer()
    for number, chip in enumerate(sorted({name for name, _ in profile.cores}), 1):
        process = writer.track(chip, process=number)
        for engine in profile.engines:
            if engine.place.chip != chip:
                continue
            name = f"nc{engine.place.index}.{engine.name}"
            writer.slices(name, process, _instructions(profile, engine.instructions))
            writer.slices(f"{name} waits", process, _waits(profile, engine))
        moved = collections.defaultdict(list)
        for transfer in profile.transfers:
            if transfer.place.chip == chip:
                moved[transfer.place.part].append(transfer)
        for part in sorted(moved, key=_natural):
            writer.slices(part, process, _transfers(profile, moved[part]))
        writer.slices(
            "collectives",
            process,
            (
                (
                    _ns(profile, service.begin),
                    _ns(profile, service.end),
                    f"top_sp{service.place.index}",
                    {},
                    [service.operation] if service.operation else [],
                )
                for service in profile.services
                if service.place.chip == chip
            ),
        )
        for name, spans in (
            (
                "HBM bandwidth",
                [
                    (access.begin, access.end, access.bytes)
                    for access in profile.accesses
                    if access.place.kind is Kind.MEMORY and access.place.chip == chip
                ],
            ),
            (
                "DMA bandwidth",
                [(transfer.begin, transfer.end, transfer.bytes) for transfer in profile.transfers if transfer.place.chip == chip],
            ),
        ):
            width = profile.duration / SAMPLES
            parts = intervals.sampled(spans, profile.first, profile.last, SAMPLES)
            writer.counter(name, process, ((int(step * width) // 1000, amount * 1000 / width) for step, amount in enumerate(parts)), "GB/s")
    return b"".join(writer.parts)


def _natural(part: str) -> tuple[str, int]:
    name, _, number = part.rpartition("engine")
    return name, int(number)


def _ns(profile: Profile, time: int) -> int:
    return max(0, time - profile.first) // 1000


def _instructions(profile: Profile, instructions: Iterable[Instruction]) -> Iterator[Slice]:
    for instruction in instructions:
        source = os.path.basename(instruction.source)
        fields: dict[str, int | str] = {
            "source": instruction.source,
            "operands": instruction.operands,
            "pc": instruction.pc,
            "cycles": instruction.cycles,
            "flops": instruction.flops,
        }
        yield (
            _ns(profile, instruction.begin),
            _ns(profile, instruction.end),
            f"{instruction.opcode} {source}".strip(),
            fields,
            [instruction.operation] if instruction.operation else [],
        )


def _waits(profile: Profile, engine: Engine) -> Iterator[Slice]:
    for wait in engine.waits:
        fields: dict[str, int | str] = {"cause": wait.cause.value, "reason": wait.reason}
        poster = profile.posters.get(wait.poster)
        if poster is not None:
            fields["posted by"] = f"{poster.engine.place.module} {poster.opcode} {poster.source}"
        yield (
            _ns(profile, wait.begin),
            _ns(profile, wait.end),
            f"{wait.cause.value}: {wait.reason}",
            fields,
            [wait.poster] if poster is not None else [],
        )


def _transfers(profile: Profile, transfers: list[Transfer]) -> Iterator[Slice]:
    """Each transfer; of an execution with very many, those of one copy on one queue as one slice."""
    if len(profile.transfers) > MAX_TRANSFERS:
        yield from _merged_transfers(profile, transfers)
        return
    for transfer in transfers:
        yield (
            _ns(profile, transfer.begin),
            _ns(profile, transfer.end),
            _transfer_name(profile, transfer),
            {"bytes": transfer.bytes, "from": f"{transfer.source:#x}", "to": f"{transfer.destination:#x}"},
            [transfer.operation] if transfer.operation else [],
        )


def _merged_transfers(profile: Profile, transfers: list[Transfer]) -> Iterator[Slice]:
    groups: dict[tuple[int, int, str], list[Transfer]] = {}
    for transfer in transfers:
        groups.setdefault((transfer.operation, transfer.queue, transfer.kind), []).append(transfer)
    for (operation, _, _), some in groups.items():
        yield (
            _ns(profile, min(transfer.begin for transfer in some)),
            _ns(profile, max(transfer.end for transfer in some)),
            _transfer_name(profile, some[0]),
            {"packets": len(some), "bytes": sum(transfer.bytes for transfer in some)},
            [operation] if operation else [],
        )


def _transfer_name(profile: Profile, transfer: Transfer) -> str:
    poster = profile.posters.get(transfer.operation)
    source = f" {os.path.basename(poster.source)}" if poster is not None else ""
    return f"{transfer.kind} q{transfer.queue}{source}"
