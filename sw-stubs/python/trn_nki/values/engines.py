# SPDX-License-Identifier: Apache-2.0
"""Engines and modes of nki.isa calls; the members' values are AWS's."""
import enum


class engine(enum.Enum):
    """An engine of a NeuronCore; `unknown`: chosen by the tracer (doc/spec/neuron-core.md, 15.3)."""

    unknown = 0
    tensor = 1
    scalar = 2
    gpsimd = 3
    dma = 4
    vector = 5
    sync = 6


class reduce_cmd(enum.Enum):
    """Effect of an instruction on its engine's accumulators (3.5)."""

    idle = 0
    reset = 1
    reduce = 2
    reset_reduce = 3
    load_reduce = 4


class dge_mode(enum.Enum):
    """Origin of the descriptors of a DMA transfer."""

    unknown = 0
    swdge = 1
    hwdge = 2
    none = 3


class oob_mode(enum.Enum):
    """Effect of a dynamic index that is out of range."""

    error = 0
    skip = 1


class matmul_perf_mode(enum.Enum):
    """double_row: two FP8 products per row of the array (4.1)."""

    none = "none"
    double_row = "double_row"


class nc_version(enum.Enum):
    """Generation of a NeuronCore."""

    gen2 = 2
    gen3 = 3
    gen4 = 4

    def __lt__(self, other: "nc_version") -> bool:
        return self.value < other.value

    def __le__(self, other: "nc_version") -> bool:
        return self.value <= other.value

    def __gt__(self, other: "nc_version") -> bool:
        return self.value > other.value

    def __ge__(self, other: "nc_version") -> bool:
        return self.value >= other.value


class dma_engine(enum.Enum):
    """The engine that moves the data of a sendrecv."""

    dma = 1
    gpsimd_dma = 2
