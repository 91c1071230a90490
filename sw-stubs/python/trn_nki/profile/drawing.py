# SPDX-License-Identifier: Apache-2.0
"""The data of the page's timeline, with limits: excess spans are merged, with a note."""
from __future__ import annotations

import collections
from typing import Any

from trn_nki.profile import intervals
from trn_nki.profile.events import Kind
from trn_nki.profile.records import Cause, Engine, Instruction, Profile, Transfer

MAX_SPANS = 20_000  # individually drawn instructions and waits of all engines
MAX_TRANSFERS = 20_000  # groups of transfers
MAX_ENGINE_TRACKS = 320  # the height of a canvas is limited
MAX_DMA_TRACKS = 64
MAX_CC_TRACKS = 64
SAMPLES = 600  # of a curve
CAUSES = [cause.value for cause in Cause]


class _Names:
    """Table of texts, referenced by number because most are repeated."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def drawing_of(profile: Profile) -> dict[str, Any]:
    """For JSON: `tracks` of `spans` and `curves`. Times in ps from the start of the execution.

    A span of an instruction is [begin, duration, id, opcode, operands, source, cycles, latency cycles, flops, mode], one
    of a wait [begin, duration, cause, reason, id of the instruction that waits, id of the poster], merged ones are
    [begin, duration, count, busy, most frequent opcode, most frequent source]; texts are numbers in `texts`.
    """
    names = _Names()
    notes: list[str] = []
    drawn_engines = profile.engines[:MAX_ENGINE_TRACKS]
    if len(profile.engines) > MAX_ENGINE_TRACKS:
        notes.append(f"{len(profile.engines)} engines ran: the first {MAX_ENGINE_TRACKS} are drawn.")
    count = sum(len(engine.instructions) + len(engine.waits) for engine in drawn_engines)
    merge = count > MAX_SPANS
    tracks = []
    for engine in drawn_engines:
        track: dict[str, Any] = {"kind": "engine", "name": f"nc{engine.place.index}.{engine.name}", "chip": engine.place.chip}
        if merge:
            track["merged"] = _merged(profile, engine, MAX_SPANS // len(drawn_engines), names)
            track["waits"] = _merged_waits(profile, engine, MAX_SPANS // len(drawn_engines), names)
        else:
            track["spans"] = [_instruction(profile, instruction, names) for instruction in engine.instructions]
            track["waits"] = _waits(profile, engine, names)
        tracks.append(track)
    if merge:
        drawn = sum(len(track["merged"]) + len(track["waits"]) for track in tracks)
        notes.append(
            f"The timeline draws {count} instructions and waits as {drawn} merged spans; "
            "tables and sums are of all of them, and the JSON has each."
        )
    tracks += _dma_tracks(profile, names, notes)
    tracks += _collective_tracks(profile)
    return {
        "duration": profile.duration,
        "texts": names.texts,
        "causes": CAUSES,
        "tracks": tracks,
        "curves": _curves(profile),
        "notes": notes,
        "instructions": count,
    }


def _instruction(profile: Profile, instruction: Instruction, names: _Names) -> list[Any]:
    return [
        instruction.begin - profile.first,
        instruction.end - instruction.begin,
        instruction.id,
        names.number(instruction.opcode),
        names.number(instruction.operands),
        names.number(instruction.source),
        instruction.cycles,
        instruction.latency_cycles,
        instruction.flops,
        names.number(instruction.mode),
    ]


def _waits(profile: Profile, engine: Engine, names: _Names) -> list[list[Any]]:
    found = []
    followed = [(wait, instruction.id) for instruction in engine.instructions for wait in instruction.waits]
    for wait, number in followed + [(wait, 0) for wait in engine.unmet]:
        poster = profile.posters.get(wait.poster)
        begin = max(wait.begin, profile.first)
        if wait.end > begin:
            found.append(
                [
                    begin - profile.first,
                    wait.end - begin,
                    CAUSES.index(wait.cause.value),
                    names.number(wait.reason),
                    number,
                    poster.id if poster else 0,
                ]
            )
    return sorted(found, key=lambda span: span[0])


def _merged(profile: Profile, engine: Engine, limit: int, names: _Names) -> list[list[Any]]:
    """Runs of short instructions with short gaps become one span; long instructions stay."""
    width = max(1, profile.duration // max(1, limit // 2))
    found: list[list[Any]] = []
    group: list[Instruction] = []

    def close() -> None:
        if group:
            begin, end = group[0].begin, max(instruction.end for instruction in group)
            busy = intervals.length(intervals.union((instruction.begin, instruction.end) for instruction in group))
            opcode = collections.Counter(instruction.opcode for instruction in group).most_common(1)[0][0]
            source = collections.Counter(instruction.source for instruction in group).most_common(1)[0][0]
            found.append(
                [
                    begin - profile.first,
                    end - begin,
                    sum(instruction.count for instruction in group),
                    busy,
                    names.number(opcode),
                    names.number(source),
                ]
            )
            group.clear()

    for instruction in engine.instructions:
        if group and instruction.end - group[0].begin > width:
            close()
        group.append(instruction)
    close()
    return found


def _merged_waits(profile: Profile, engine: Engine, limit: int, names: _Names) -> list[list[Any]]:
    """The longest waits: at most half as many as spans."""
    waits = _waits(profile, engine, names)
    longest = sorted(waits, key=lambda span: -span[1])[: limit // 2]
    return sorted(longest, key=lambda span: span[0])


def _dma_tracks(profile: Profile, names: _Names, notes: list[str]) -> list[dict[str, Any]]:
    """One track for each DMA engine; a span is [begin, duration, packets, bytes, queue, id of the trigger, source, kind]."""
    groups: dict[tuple[str, str, int, int], list[Transfer]] = {}
    for transfer in profile.transfers:
        groups.setdefault((transfer.place.chip, transfer.place.part, transfer.operation, transfer.queue), []).append(transfer)
    if len(groups) > MAX_TRANSFERS:
        notes.append(f"{len(groups)} groups of DMA transfers: the {MAX_TRANSFERS} with the most bytes are drawn.")
    chosen = sorted(groups.items(), key=lambda item: -sum(transfer.bytes for transfer in item[1]))[:MAX_TRANSFERS]
    tracks: dict[tuple[str, str], list[list[Any]]] = collections.defaultdict(list)
    for (chip, part, operation, queue), some in chosen:
        poster = profile.posters.get(operation)
        begin, end = min(transfer.begin for transfer in some), max(transfer.end for transfer in some)
        tracks[chip, part].append(
            [
                begin - profile.first,
                end - begin,
                len(some),
                sum(transfer.bytes for transfer in some),
                queue,
                poster.id if poster else 0,
                names.number(poster.source if poster else ""),
                names.number(some[0].kind),
            ]
        )
    ordered = sorted(tracks, key=lambda key: (key[0], key[1].rpartition("engine")[0], int(key[1].rpartition("engine")[2])))
    if len(ordered) > MAX_DMA_TRACKS:
        notes.append(f"{len(ordered)} DMA engines were used: the first {MAX_DMA_TRACKS} are drawn.")
    return [{"kind": "dma", "chip": chip, "name": part, "spans": sorted(tracks[chip, part])} for chip, part in ordered[:MAX_DMA_TRACKS]]


def _collective_tracks(profile: Profile) -> list[dict[str, Any]]:
    tracks: dict[tuple[str, int], list[list[int]]] = collections.defaultdict(list)
    for service in profile.services:
        poster = profile.posters.get(service.operation)
        begin, end = max(service.begin, profile.first), min(service.end, profile.last)
        if end > begin:
            tracks[service.place.chip, service.place.index].append([begin - profile.first, end - begin, poster.id if poster else 0])
    return [
        {"kind": "collective", "chip": chip, "name": f"top_sp{index}", "spans": sorted(spans)}
        for (chip, index), spans in sorted(tracks.items())[:MAX_CC_TRACKS]
    ]


def _curves(profile: Profile) -> list[dict[str, Any]]:
    width = profile.duration / SAMPLES
    kinds = (
        (
            "HBM read",
            [
                (access.begin, access.end, access.bytes)
                for access in profile.accesses
                if access.place.kind is Kind.MEMORY and not access.writes
            ],
        ),
        (
            "HBM write",
            [(access.begin, access.end, access.bytes) for access in profile.accesses if access.place.kind is Kind.MEMORY and access.writes],
        ),
        ("DMA", [(transfer.begin, transfer.end, transfer.bytes) for transfer in profile.transfers]),
        (
            "Tensor FLOPs",
            [
                (instruction.begin, instruction.end, instruction.flops)
                for engine in profile.engines
                if engine.name == "tensor"
                for instruction in engine.instructions
                if instruction.flops
            ],
        ),
    )
    curves = []
    for name, spans in kinds:
        if spans:
            parts = intervals.sampled(spans, profile.first, profile.last, SAMPLES)
            curves.append(
                {"name": name, "unit": "FLOP/s" if "FLOP" in name else "B/s", "values": [round(part * 1e12 / width) for part in parts]}
            )
    return curves
