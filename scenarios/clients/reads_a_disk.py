#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A driver of an NVMe disk that writes blocks and reads them, one command after the other, and recovers as Linux's does: an abort for a command
that is late, then a reset of the controller, and the command again; blocks that are lost are written again. Prints what it had to do: `reads_a_disk.py DISK COUNT`.
Registers and entries: NVM Express base specification 1.4."""
import struct
import sys

from vfio_user import BAR0, BUS_MASTER, COMMAND, CONFIG, MEMORY_SPACE, Function

CC, CSTS, AQA, ASQ, ACQ, DOORBELLS = 0x14, 0x1C, 0x24, 0x28, 0x30, 0x1000
READY, ENABLED = 1, 4 << 20 | 6 << 16 | 1  # entries of 16 and 64 bytes
CREATE_SUBMISSIONS, CREATE_COMPLETIONS, ABORT, WRITE, READ = 1, 5, 8, 1, 2
MEMORY, PAGE, DEPTH = 0x1000_0000, 4096, 16
RINGS = {0: (0, 1), 1: (2, 3)}  # pages of submissions and completions, by queue
DATA = 4  # page of it
MILLISECOND = 1_000_000
UNRECOVERED_READ, ABORTED = 0x281, 0x07


class Disk:
    def __init__(self, name: str):
        self.function = Function(name)
        self.function.write(CONFIG, COMMAND, MEMORY_SPACE | BUS_MASTER, 2)
        self.memory = self.function.share(MEMORY, 5 * PAGE)
        self.last = 0
        self.reset()

    def reset(self) -> None:
        """Admin queues, then a pair of I/O queues."""
        self.function.write(BAR0, CC, 0)
        while self.function.read(BAR0, CSTS) & READY:
            self.wait()
        self.function.answer()
        self.memory[: DATA * PAGE] = bytes(DATA * PAGE)
        self.tail, self.head = [0, 0], [0, 0]
        for register, value in (
            (AQA, (DEPTH - 1) << 16 | (DEPTH - 1)),
            (ASQ, MEMORY),
            (ASQ + 4, 0),
            (ACQ, MEMORY + PAGE),
            (ACQ + 4, 0),
            (CC, ENABLED),
        ):
            self.function.write(BAR0, register, value)
        while not self.function.read(BAR0, CSTS) & READY:
            self.wait()
        for opcode, page, flags in ((CREATE_COMPLETIONS, 3, 1), (CREATE_SUBMISSIONS, 2, 1 << 16 | 1)):
            self.post(0, opcode, 0, MEMORY + page * PAGE, (DEPTH - 1) << 16 | 1, flags)
            assert self.status(0) == 0

    def wait(self) -> None:
        self.function.wait(MILLISECOND // 10)
        self.function.answer()

    def post(self, queue: int, opcode: int, name: int, address: int, *words: int) -> int:
        self.last = self.last % 0xFFFF + 1
        at = RINGS[queue][0] * PAGE + self.tail[queue] * 64
        self.memory[at : at + 64] = struct.pack("<II16xQQ6I", self.last << 16 | opcode, name, address, 0, *words, *[0] * (6 - len(words)))
        self.tail[queue] = (self.tail[queue] + 1) % DEPTH
        self.function.write(BAR0, DOORBELLS + queue * 8, self.tail[queue])
        return self.last

    def status(self, queue: int, limit: int = 20 * MILLISECOND) -> int | None:
        """Of the next completion; None: it has not come in this time."""
        for _ in range(limit // (MILLISECOND // 10)):
            at = RINGS[queue][1] * PAGE + self.head[queue] % DEPTH * 16
            word = struct.unpack_from("<I", self.memory, at + 12)[0]
            if word >> 16 & 1 == 1 - self.head[queue] // DEPTH % 2:
                self.head[queue] += 1
                self.function.write(BAR0, DOORBELLS + queue * 8 + 4, self.head[queue] % DEPTH)
                return word >> 17 & 0x7FF
            self.wait()
        return None

    def execute(self, opcode: int, block: int) -> int:
        """Of a command for one block, until it has succeeded or failed for good."""
        while True:
            number = self.post(1, opcode, 1, MEMORY + DATA * PAGE, block, 0, 0)
            how = self.status(1)
            if how is None:
                self.post(0, ABORT, 0, 0, number << 16 | 1)
                if self.status(0) == 0 and (how := self.status(1)) == ABORTED:
                    print("aborted", opcode)
                    continue
            if how is None:
                self.reset()
                print("reset for", opcode)
                continue
            return how


def pattern(number: int) -> bytes:
    return bytes((number * 7 + i) % 251 for i in range(512))


def write(number: int) -> None:
    disk.memory[data] = pattern(number)
    assert disk.execute(WRITE, number) == 0


def read(number: int) -> int:
    disk.memory[data] = bytes(512)
    how = disk.execute(READ, number)
    assert how != 0 or disk.memory[data] == pattern(number), number
    return how


disk, blocks = Disk(sys.argv[1]), range(int(sys.argv[2]))
data = slice(DATA * PAGE, DATA * PAGE + 512)
for each in blocks:
    write(each)
for each in blocks:
    if (status := read(each)) == 0:
        continue
    assert status == UNRECOVERED_READ, hex(status)
    print("lost block", each)
    write(each)
    assert read(each) == 0
print("verified", len(blocks), "blocks")
