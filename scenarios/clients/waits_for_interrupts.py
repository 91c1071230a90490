#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A driver of an EFA card that has one work request done after the other and says of which it was interrupted: `waits_for_interrupts.py CARD COUNT`."""
import os
import struct
import sys

from vfio_user import BAR0, BUS_MASTER, COMMAND, CONFIG, MEMORY_SPACE, Function

IRQ_STATUS, IRQ_ENABLE, COMPLETION = 0x18, 0x1c, 1
SQ_BASE_LO, CQ_BASE_LO, ENTRIES, STATE, SQ_TAIL = 0x1000, 0x1008, 0x1010, 0x1014, 0x1018  # of queue pair 0
RUN = 1
RINGS, REQUESTS, COMPLETIONS, REQUEST_BYTES, COMPLETION_BYTES = 0x1000_0000, 0x0, 0x800, 64, 16
BAD_REQUEST = 1  # length 0: the card completes it without a network

card = Function(sys.argv[1])
card.write(CONFIG, COMMAND, MEMORY_SPACE | BUS_MASTER, 2)
memory = card.share(RINGS, 4096)
interrupts = card.interrupt(0)
for register, value in ((SQ_BASE_LO, RINGS + REQUESTS), (CQ_BASE_LO, RINGS + COMPLETIONS), (ENTRIES, 16), (STATE, RUN),
                        (IRQ_ENABLE, COMPLETION)):
    card.write(BAR0, register, value)


def interrupted() -> bool:
    try:
        return os.eventfd_read(interrupts) == 1
    except BlockingIOError:
        return False


heard = []
for number in range(int(sys.argv[2])):
    struct.pack_into("<BxHHHII", memory, REQUESTS + number * REQUEST_BYTES, 1, 0, 0, 0, number, 0)
    card.write(BAR0, SQ_TAIL, number + 1)
    at = COMPLETIONS + number * COMPLETION_BYTES
    while memory[at + 7] == 0:  # its phase
        card.wait(1000)
        card.answer()
    card.wait(10_000)
    assert struct.unpack_from("<IB", memory, at) == (number, BAD_REQUEST), memory[at:at + COMPLETION_BYTES]
    if interrupted():
        heard.append(str(number))
    card.write(BAR0, IRQ_STATUS, COMPLETION)  # also of the one that was not heard: this driver looks by itself
print("interrupted of", ", ".join(heard))
