# SPDX-License-Identifier: Apache-2.0
"""Reads Perfetto traces by Google's Protocol Buffers parser. Field numbers are from Perfetto's
public documentation; no code is shared with the writer."""
from __future__ import annotations

import dataclasses
from typing import Any, Iterator

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import decoder

FIELD = descriptor_pb2.FieldDescriptorProto
UINT64, INT64, INT32, UINT32 = FIELD.TYPE_UINT64, FIELD.TYPE_INT64, FIELD.TYPE_INT32, FIELD.TYPE_UINT32
FIXED64, STRING, DOUBLE = FIELD.TYPE_FIXED64, FIELD.TYPE_STRING, FIELD.TYPE_DOUBLE
MESSAGES = {
    "TracePacket": {
        "timestamp": (8, UINT64),
        "trusted_packet_sequence_id": (10, UINT32),
        "track_event": (11, "TrackEvent"),
        "sequence_flags": (13, UINT32),
        "track_descriptor": (60, "TrackDescriptor"),
    },
    "TrackDescriptor": {
        "uuid": (1, UINT64),
        "name": (2, STRING),
        "process": (3, "ProcessDescriptor"),
        "parent_uuid": (5, UINT64),
        "counter": (8, "CounterDescriptor"),
    },
    "CounterDescriptor": {"unit_name": (6, STRING)},
    "ProcessDescriptor": {"pid": (1, INT32), "process_name": (6, STRING)},
    "TrackEvent": {
        "debug_annotations": (4, ["DebugAnnotation"]),
        "type": (9, INT32),
        "track_uuid": (11, UINT64),
        "name": (23, STRING),
        "flow_ids": (47, [FIXED64]),
        "double_counter_value": (44, DOUBLE),
    },
    "DebugAnnotation": {
        "uint_value": (3, UINT64),
        "int_value": (4, INT64),
        "string_value": (6, STRING),
        "pointer_value": (7, UINT64),
        "name": (10, STRING),
    },
}
SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4


def packet_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="trace", package="t", syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            one = message.field.add(name=field, number=number, label=FIELD.LABEL_OPTIONAL)
            if isinstance(kind, list):
                one.label, kind = FIELD.LABEL_REPEATED, kind[0]
            if isinstance(kind, str):
                one.type, one.type_name = FIELD.TYPE_MESSAGE, f".t.{kind}"
            else:
                one.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("t.TracePacket"))


PACKET = packet_class()
PACKET_TAG = 1 << 3 | 2  # field 1 of the file, length first


def packets(content: bytes) -> Iterator[Any]:
    """All complete packets: the file may end inside a packet."""
    at = 0
    while at < len(content):
        if content[at] != PACKET_TAG:
            raise ValueError(f"no packet at byte {at}")
        try:
            size, begin = decoder._DecodeVarint(content, at + 1)
        except IndexError:
            return
        at = begin + size
        if at > len(content):
            return
        packet = PACKET.FromString(content[begin:at])
        if packet.UnknownFields():
            raise ValueError(f"byte {begin}: unknown fields")
        yield packet


@dataclasses.dataclass
class Event:
    time: int  # ns
    process: str
    track: str
    name: str
    flows: list[int]
    values: dict[str, Any]
    duration: int | None = None  # of a slice; None: it has not ended, or the event is not a slice
    place: str = ""  # "chip0: host"


def value_of(annotation: Any) -> Any:
    for kind in ("uint_value", "int_value", "string_value", "pointer_value"):
        if annotation.HasField(kind):
            return getattr(annotation, kind)
    raise ValueError(f"annotation {annotation.name} has no value")


class Timeline:
    """The events of a file in a viewer's order: sorted by time, equal times in file order."""

    def __init__(self, content: bytes):
        self.events: list[Event] = []
        self.processes: dict[int, str] = {}
        tracks: dict[int, tuple[str, str]] = {}
        open_slices: dict[int, list[Event]] = {}
        self.packets = 0
        in_order = []
        for packet in packets(content):
            self.packets += 1
            if packet.trusted_packet_sequence_id != 1:
                raise ValueError("a packet of no sequence")
            if packet.HasField("track_descriptor"):
                one = packet.track_descriptor
                if one.HasField("process"):
                    self.processes[one.uuid] = one.process.process_name
                else:
                    tracks[one.uuid] = (self.processes[one.parent_uuid], one.name)
            else:
                in_order.append(packet)
        in_order.sort(key=lambda p: p.timestamp)  # stable
        for packet in in_order:
            event = packet.track_event
            process, track = tracks[event.track_uuid]
            stack = open_slices.setdefault(event.track_uuid, [])
            if event.type == SLICE_END:
                begun = stack.pop()
                begun.duration = packet.timestamp - begun.time
                continue
            values = {a.name: value_of(a) for a in event.debug_annotations}
            made = Event(packet.timestamp, process, track, event.name, list(event.flow_ids), values, place=f"{process}: {track}")
            self.events.append(made)
            if event.type == SLICE_BEGIN:
                if stack:
                    raise ValueError(f"two slices of {made.place} overlap on one track")
                stack.append(made)
            elif event.type == COUNTER:
                made.values["value"] = event.double_counter_value
            elif event.type != INSTANT:
                raise ValueError(f"an event of type {event.type}")
        self.open = [one for stack in open_slices.values() for one in stack]

    def flows(self) -> dict[int, list[Event]]:
        """Events connected by arrows, by operation."""
        chains: dict[int, list[Event]] = {}
        for event in self.events:
            for flow in event.flows:
                chains.setdefault(flow, []).append(event)
        return chains
