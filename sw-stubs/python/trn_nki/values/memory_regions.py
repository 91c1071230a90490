# SPDX-License-Identifier: Apache-2.0
"""Memories that hold tensors."""
import enum


class MemoryRegion(enum.Enum):
    """SBUF, PSUM, HBM of one core, HBM shared by the cores that run a kernel together."""

    sbuf = "sbuf"
    psum = "psum"
    private_hbm = "private_hbm"
    shared_hbm = "shared_hbm"

    @property
    def is_on_chip(self) -> bool:
        return self in ON_CHIP

    @property
    def is_hbm(self) -> bool:
        return self not in ON_CHIP

    __hash__ = object.__hash__  # members are singletons


sbuf = MemoryRegion.sbuf
psum = MemoryRegion.psum
private_hbm = hbm = MemoryRegion.private_hbm
shared_hbm = MemoryRegion.shared_hbm
ON_CHIP = frozenset((sbuf, psum))
