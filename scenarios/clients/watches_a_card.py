#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A driver of an ENA card that sends a packet and an admin command every 100 ms and watches the card as Linux's does: it resets the card when
keep-alives, completions or answers do not come. Prints why: `watches_a_card.py CARD SECONDS`.
Registers: doc/spec/efa-contract.md, sections 2 to 5 and 23; doc/models/cards/ena_admin.md and ena_io.md have the words of entries."""
import struct
import sys

from vfio_user import BAR0, BUS_MASTER, COMMAND, CONFIG, MEMORY_SPACE, Function

AQ_BASE, AQ_CAPS, ACQ_BASE, ACQ_CAPS, AQ_PROD_DB, AENQ_CAPS, AENQ_BASE, AENQ_HEAD_DB, DEV_CTL = (
    0x10,
    0x18,
    0x20,
    0x28,
    0x2C,
    0x34,
    0x38,
    0x40,
    0x54,
)
CREATE_SQ, CREATE_CQ, GET_FEATURE, SET_FEATURE = 1, 3, 8, 9
LINK, AENQ_CONFIG, GROUPS = 27, 26, 0x1F
LINK_CHANGE, FATAL_ERROR, KEEP_ALIVE = 0, 1, 4
MEMORY, PAGE, ENTRY, DEPTH, EVENTS, PACKETS = 0x1000_0000, 4096, 64, 32, 16, 16
COMMANDS, ANSWERS, AENQ, RING, COMPLETIONS, PACKET = (page * PAGE for page in range(6))
MILLISECOND = 1_000_000
SILENT = 25  # steps of 100 ms without a keep-alive


class Card:
    def __init__(self, name: str):
        self.function = Function(name)
        self.function.write(CONFIG, COMMAND, MEMORY_SPACE | BUS_MASTER, 2)
        self.memory = self.function.share(MEMORY, 6 * PAGE)
        self.reset()

    def reset(self) -> None:
        self.function.write(BAR0, DEV_CTL, 1)
        self.function.write(BAR0, DEV_CTL, 0)
        self.wait(1)
        self.memory[:PACKET] = bytes(PACKET)
        self.commands = self.answers = self.events = self.sent = self.completed = self.silent = 0
        for register, value in (
            (AQ_BASE, MEMORY + COMMANDS),
            (AQ_BASE + 4, 0),
            (ACQ_BASE, MEMORY + ANSWERS),
            (ACQ_BASE + 4, 0),
            (AQ_CAPS, ENTRY << 16 | DEPTH),
            (ACQ_CAPS, ENTRY << 16 | DEPTH),
            (AENQ_BASE, MEMORY + AENQ),
            (AENQ_BASE + 4, 0),
            (AENQ_CAPS, ENTRY << 16 | EVENTS),
        ):
            self.function.write(BAR0, register, value)
        self.must(SET_FEATURE, (17, "B", AENQ_CONFIG), (24, "I", GROUPS))
        self.function.write(BAR0, AENQ_HEAD_DB, EVENTS)
        queue = self.must(CREATE_CQ, (4, "B", 1 << 5), (5, "B", 2), (6, "H", PACKETS), (8, "I", 1), (12, "Q", MEMORY + COMPLETIONS))
        (number,) = struct.unpack_from("<H", queue, 8)
        ring = self.must(
            CREATE_SQ, (4, "B", 1 << 5), (6, "B", 1), (7, "B", 1), (8, "H", number), (10, "H", PACKETS), (12, "Q", MEMORY + RING)
        )
        (self.doorbell,) = struct.unpack_from("<I", ring, 12)

    def wait(self, milliseconds: int) -> None:
        self.function.wait(milliseconds * MILLISECOND)
        self.function.answer()

    def execute(self, opcode: int, *fields: tuple[int, str, int]) -> bytes | None:
        """The answer; None: it does not come."""
        at = COMMANDS + self.commands % DEPTH * ENTRY
        struct.pack_into("<HBB60x", self.memory, at, self.commands & 0xFFF, opcode, 1 - self.commands // DEPTH % 2)
        for byte, kind, value in fields:
            struct.pack_into("<" + kind, self.memory, at + byte, value)
        self.commands += 1
        self.function.write(BAR0, AQ_PROD_DB, self.commands & 0xFFFF)
        at = ANSWERS + self.answers % DEPTH * ENTRY
        for _ in range(10):
            self.wait(1)
            if self.memory[at + 3] & 1 == 1 - self.answers // DEPTH % 2:
                self.answers += 1
                return bytes(self.memory[at : at + ENTRY])
        return None

    def must(self, opcode: int, *fields: tuple[int, str, int]) -> bytes:
        answer = self.execute(opcode, *fields)
        assert answer is not None and answer[2] == 0, answer
        return answer

    def sends(self) -> bool:
        """Whether a packet of 64 bytes is completed."""
        phase = 1 - self.sent // PACKETS % 2
        struct.pack_into("<IIQ", self.memory, RING + self.sent % PACKETS * 16, 64 | phase << 24 | 3 << 26, 0, MEMORY + PACKET)
        self.sent += 1
        self.function.write(BAR0, self.doorbell, self.sent & 0xFFFF)
        for _ in range(10):
            self.wait(1)
            (done,) = struct.unpack_from("<I", self.memory, COMPLETIONS + self.completed % PACKETS * 8)
            if done >> 24 & 1 == 1 - self.completed // PACKETS % 2:
                self.completed += 1
                return True
        return False

    def problem(self) -> str | None:
        """Of the events since the last call; says what the link does."""
        self.silent += 1
        while self.memory[(at := AENQ + self.events % EVENTS * ENTRY) + 4] & 1 == 1 - self.events // EVENTS % 2:
            (group,) = struct.unpack_from("<H", self.memory, at)
            if group == KEEP_ALIVE:
                self.silent = 0
            if group == LINK_CHANGE:
                print("link", "up" if self.memory[at + 16] & 1 else "down")
            self.events += 1
            self.function.write(BAR0, AENQ_HEAD_DB, self.events + EVENTS & 0xFFFF)
            if group == FATAL_ERROR:
                return "the card reports a fatal error"
        return "no keep-alive" if self.silent > SILENT else None


card = Card(sys.argv[1])
for step in range(int(sys.argv[2]) * 10):
    card.wait(80)
    why = card.problem()
    if not card.sends():
        why = why or card.problem() or "a packet was not completed"
    if card.execute(GET_FEATURE, (17, "B", LINK)) is None:
        why = "a command was not answered"
    if why:
        print("reset:", why)
        card.reset()
print("packets of the last driver:", card.sent)
