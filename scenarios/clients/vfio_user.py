# SPDX-License-Identifier: Apache-2.0
"""A host that does what no driver would: one PCI Express function over vfio-user (doc/attach.md), message by message."""
import errno
import os
import socket
import struct

BAR0, BAR4, CONFIG = 0, 4, 7  # regions
COMMAND, MEMORY_SPACE, BUS_MASTER = 4, 2, 4  # of configuration space

VERSION, DMA_MAP, READ, WRITE, DMA_WRITE, WAIT = 1, 2, 9, 10, 12, 0x8002
REPLY, ERROR = 1, 0x20


class Function:
    """Simulated time moves with each access, and in wait(). What the device asks of host memory is kept in `asked`."""

    def __init__(self, name: str):
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._link.connect(os.path.join(os.environ["TRNVP_SOCKETS"], name + ".sock"))
        self._last = 0
        self.asked: list[tuple[int, int, bytes]] = []  # id, command, payload
        self._call(VERSION, struct.pack("<HH", 0, 1) + b'{"capabilities":{}}\0')

    def read(self, region: int, offset: int, size: int = 4) -> int:
        reply = self._call(READ, struct.pack("<QII", offset, region, size))
        return int.from_bytes(reply[16:], "little")

    def write(self, region: int, offset: int, value: int, size: int = 4) -> None:
        self._call(WRITE, struct.pack("<QII", offset, region, size) + value.to_bytes(size, "little"))

    def share(self, address: int, size: int) -> None:
        """Host memory that the device reaches by messages only."""
        self._call(DMA_MAP, struct.pack("<IIQQQ", 32, 3, 0, address, size))

    def wait(self, nanoseconds: int) -> None:
        self._call(WAIT, struct.pack("<Q", nanoseconds))

    def answer(self) -> list[bytes]:
        """Takes what the device has written until now, and returns it; what it would read is refused."""
        wanted, self.asked = self.asked, []
        for number, command, payload in wanted:
            if command == DMA_WRITE:
                self._send(number, command, REPLY, payload[:16])
            else:
                self._send(number, command, REPLY | ERROR, b"", errno.EINVAL)
        return [payload[16:] for _, command, payload in wanted if command == DMA_WRITE]

    def _call(self, command: int, payload: bytes) -> bytes:
        self._last += 1
        self._send(self._last, command, 0, payload)
        while True:
            number, of, size, flags, error = struct.unpack("<HHIII", self._receive(16))
            data = self._receive(size - 16)
            if not flags & REPLY:
                self.asked.append((number, of, data))
            elif flags & ERROR:
                raise OSError(error, os.strerror(error))
            else:
                return data

    def _send(self, number: int, command: int, flags: int, payload: bytes, error: int = 0) -> None:
        self._link.sendall(struct.pack("<HHIII", number, command, 16 + len(payload), flags, error) + payload)

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._link.recv(size - len(data))
            if not piece:
                raise EOFError("the platform closed the connection")
            data += piece
        return data
