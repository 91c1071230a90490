#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A host that core 0 has notifications for.

`notified_host.py slow`: its memory does not answer while there are more than are on their way and than the core can hold.
`notified_host.py deaf`: it has taken bus mastering back.
`notified_host.py unloaded`: it has taken its ring back before, as a driver does that is unloaded.
"""
import sys

from vfio_user import BAR0, BUS_MASTER, COMMAND, CONFIG, MEMORY_SPACE, Function

QUEUE = 0x06001000  # of core 0
BASE_LO, BASE_HI, SIZE, LOST = (QUEUE + 0x100 + offset for offset in (0x0, 0x4, 0x8, 0x10))
POST_PAYLOAD, POST, NOTIFY_SLOT_0 = QUEUE + 0x800, QUEUE + 0x804, 0x100
RING, RING_SIZE = 0x1000_0000, 4096

chip = Function("chip0")
chip.write(CONFIG, COMMAND, MEMORY_SPACE | BUS_MASTER, 2)
chip.share(RING, RING_SIZE)
chip.write(BAR0, BASE_LO, RING)
chip.write(BAR0, BASE_HI, 1 << 46 - 32)  # the host's window
chip.write(BAR0, SIZE, RING_SIZE)


def notify(count: int) -> list[int]:
    """Answers nothing before all are posted. The payloads that came."""
    for number in range(count):
        chip.write(BAR0, POST_PAYLOAD, number)
        chip.write(BAR0, POST, NOTIFY_SLOT_0)
    entries = []
    chip.wait(1000)
    while chip.asked:
        entries += chip.answer()
        chip.wait(1000)
    return [int.from_bytes(entry[4:8], "little") for entry in entries]


if sys.argv[1] == "slow":
    came = notify(140)
    assert came == list(range(len(came))), came
    print(f"{len(came)} came, {chip.read(BAR0, LOST)} are lost")
else:
    if sys.argv[1] == "unloaded":
        assert notify(1) == [0]
        chip.write(BAR0, SIZE, 0)
    chip.write(CONFIG, COMMAND, MEMORY_SPACE, 2)
    assert notify(1) == []
chip.write(BAR0, SIZE, 0)
