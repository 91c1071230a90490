#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A driver of an EFA card that has one admin command done after the other and says of which it was interrupted: `waits_for_interrupts.py CARD COUNT`.
Registers and entries: doc/spec/efa-contract.md, sections 2 to 4."""
import os
import struct
import sys

from vfio_user import BAR0, BUS_MASTER, COMMAND, CONFIG, MEMORY_SPACE, Function

AQ_BASE, AQ_CAPS, ACQ_BASE, ACQ_CAPS, AQ_PROD_DB, INTR_MASK, DEV_CTL, DEV_STS = 0x10, 0x18, 0x20, 0x28, 0x2C, 0x4C, 0x54, 0x58
READY, RESET_IN_PROGRESS = 1 << 0, 1 << 3
MEMORY, COMMANDS, COMPLETIONS, ENTRY, DEPTH = 0x1000_0000, 0x0, 0x800, 64, 32
UNKNOWN_OPCODE, BAD_OPCODE = 77, 2  # the card completes it without an effect

card = Function(sys.argv[1])
card.write(CONFIG, COMMAND, MEMORY_SPACE | BUS_MASTER, 2)
memory = card.share(MEMORY, 4096)
interrupts = card.interrupt(0)
for reset in (1, 0):
    card.write(BAR0, DEV_CTL, reset)
    while bool(card.read(BAR0, DEV_STS) & RESET_IN_PROGRESS) != bool(reset):
        card.wait(1_000_000)
assert card.read(BAR0, DEV_STS) & READY
for register, value in (
    (AQ_BASE, MEMORY + COMMANDS),
    (AQ_BASE + 4, 0),
    (AQ_CAPS, ENTRY << 16 | DEPTH),
    (ACQ_BASE, MEMORY + COMPLETIONS),
    (ACQ_BASE + 4, 0),
    (ACQ_CAPS, ENTRY << 16 | DEPTH),
    (INTR_MASK, 0),
):
    card.write(BAR0, register, value)


def interrupted() -> bool:
    try:
        return os.eventfd_read(interrupts) == 1
    except BlockingIOError:
        return False


received = []
for number in range(int(sys.argv[2])):
    struct.pack_into("<HBB", memory, COMMANDS + number * ENTRY, number, UNKNOWN_OPCODE, 1)
    card.write(BAR0, AQ_PROD_DB, number + 1)
    at = COMPLETIONS + number * ENTRY
    while memory[at + 3] == 0:  # its phase
        card.wait(1000)
        card.answer()
    card.wait(10_000)
    assert struct.unpack_from("<HB", memory, at) == (number, BAD_OPCODE), memory[at : at + ENTRY]
    if interrupted():
        received.append(str(number))
print("interrupted of", ", ".join(received))
