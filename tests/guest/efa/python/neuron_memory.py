# SPDX-License-Identifier: Apache-2.0
"""Maps memory and semaphores of a chip through the public Neuron driver (device contract 13.2), and
exports them to other devices."""
import ctypes
import fcntl
import mmap
import os
import struct

DMABUF, MEM_ALLOC, MEM_INFO, RESOURCE, SEMAPHORE_READ = 0x80084E6B, 0x80384E66, 0x80084E1D, 0xC0204E70, 0xC0084E2B


class Device:
    """A device file; the driver frees the process's resources when it is closed."""

    def __init__(self, number=0):
        self.file = os.open(f"/dev/neuron{number}", os.O_RDWR)

    def request(self, code, layout, *values):
        """Performs one ioctl; returns the fields of its argument."""
        argument = bytearray(struct.pack(layout, *values))
        fcntl.ioctl(self.file, code, argument)
        return struct.unpack(layout, argument)

    def allocate(self, size, stack):
        """Allocates and maps memory of an HBM stack."""
        handle = ctypes.c_uint64()
        self.request(MEM_ALLOC, "=QQIIIIIxxxxQIxxxx", size, 4096, 0, stack, 0, 0, 0, ctypes.addressof(handle), 0)
        mapped_at = self.request(MEM_INFO, "=QIIQQQQ", handle.value, 1, 0, 0, 0, 0, 0)[3]
        return Memory(self, mapped_at, size)

    def semaphores(self, core):
        """Maps the window of a core's semaphores."""
        window = self.request(RESOURCE, "=IIIxxxxQQ", 0, core, 0, 0, 0)
        return Memory(self, window[3], window[4])

    def semaphore(self, core, number):
        return self.request(SEMAPHORE_READ, "=III", core, number, 0)[2]


class Memory:
    def __init__(self, device, offset, size):
        self.device, self.size = device, size
        self.mapping = mmap.mmap(device.file, size, offset=offset)
        self.start = ctypes.c_char.from_buffer(self.mapping)

    def export(self):
        """Returns a dma-buf descriptor, which RDMA drivers can register."""
        descriptor = ctypes.c_int32(-1)
        self.device.request(DMABUF, "=QQQ", ctypes.addressof(self.start), self.size, ctypes.addressof(descriptor))
        return descriptor.value
