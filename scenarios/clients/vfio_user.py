# SPDX-License-Identifier: Apache-2.0
"""A host that does what no driver would: one PCI Express function over vfio-user (doc/attach.md), message by message."""
import errno
import os
import socket
import struct

BAR0, BAR4, CONFIG = 0, 4, 7  # regions
COMMAND, MEMORY_SPACE, BUS_MASTER = 4, 2, 4  # of configuration space

VERSION, DMA_MAP, SET_IRQS, READ, WRITE, DMA_READ, DMA_WRITE, WAIT = 1, 2, 8, 9, 10, 11, 12, 0x8002
REPLY, ERROR = 1, 0x20


class Function:
    """Simulated time moves with each access, and in wait(). What the device asks of host memory is kept in `asked`."""

    def __init__(self, name: str):
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._link.connect(os.path.join(os.environ["TRNVP_SOCKETS"], name + ".sock"))
        self._last = 0
        self.asked: list[tuple[int, int, bytes]] = []  # id, command, payload
        self.memory: dict[int, bytearray] = {}  # by its bus address
        self._call(VERSION, struct.pack("<HH", 0, 1) + b'{"capabilities":{}}\0')

    def read(self, region: int, offset: int, size: int = 4) -> int:
        reply = self._call(READ, struct.pack("<QII", offset, region, size))
        return int.from_bytes(reply[16:], "little")

    def write(self, region: int, offset: int, value: int, size: int = 4) -> None:
        self._call(WRITE, struct.pack("<QII", offset, region, size) + value.to_bytes(size, "little"))

    def share(self, address: int, size: int) -> bytearray:
        """Host memory that the device reaches by messages only."""
        self._call(DMA_MAP, struct.pack("<IIQQQ", 32, 3, 0, address, size))
        return self.memory.setdefault(address, bytearray(size))

    def interrupt(self, vector: int) -> int:
        """An eventfd that counts the interrupts of an MSI-X vector."""
        count = os.eventfd(0, os.EFD_NONBLOCK)
        self._call(SET_IRQS, struct.pack("<IIIII", 20, 0x24, 2, vector, 1), [count])  # 0x24: an eventfd to trigger; 2: MSI-X
        return count

    def wait(self, nanoseconds: int) -> None:
        self._call(WAIT, struct.pack("<Q", nanoseconds))

    def answer(self) -> list[bytes]:
        """Does what the device has asked for until now; returns what it wrote."""
        wanted, self.asked = self.asked, []
        written = []
        for number, command, payload in wanted:
            address, size = struct.unpack_from("<QQ", payload)
            memory, place = self._place(address, size)
            if memory is None:
                self._send(number, command, REPLY | ERROR, b"", errno.EINVAL)
            elif command == DMA_WRITE:
                memory[place] = payload[16:]
                written.append(payload[16:])
                self._send(number, command, REPLY, payload[:16])
            else:
                self._send(number, command, REPLY, payload[:16] + memory[place])
        return written

    def _place(self, address: int, size: int) -> tuple[bytearray | None, slice]:
        for begin, memory in self.memory.items():
            if begin <= address and address + size <= begin + len(memory):
                return memory, slice(address - begin, address - begin + size)
        return None, slice(0)

    def _call(self, command: int, payload: bytes, files: list[int] = ()) -> bytes:
        self._last += 1
        self._send(self._last, command, 0, payload, files=files)
        while True:
            number, of, size, flags, error = struct.unpack("<HHIII", self._receive(16))
            data = self._receive(size - 16)
            if not flags & REPLY:
                self.asked.append((number, of, data))
            elif flags & ERROR:
                raise OSError(error, os.strerror(error))
            else:
                return data

    def _send(self, number: int, command: int, flags: int, payload: bytes, error: int = 0, files: list[int] = ()) -> None:
        message = struct.pack("<HHIII", number, command, 16 + len(payload), flags, error) + payload
        if files:
            socket.send_fds(self._link, [message], files)
        else:
            self._link.sendall(message)

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._link.recv(size - len(data))
            if not piece:
                raise EOFError("the platform closed the connection")
            data += piece
        return data
