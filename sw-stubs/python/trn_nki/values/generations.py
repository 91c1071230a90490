# SPDX-License-Identifier: Apache-2.0
"""Limits of the generations (doc/spec/neuron-core.md, 2.1 and 13), and the target generation."""
from __future__ import annotations

import dataclasses
import os

from trn_nki.diagnostics.errors import KernelError, closest
from trn_nki.values.choices import Choice
from trn_nki.values.engines import nc_version

PARTITIONS = 128
PSUM_BYTES = 16_384  # per partition
PSUM_BANKS = 8
PSUM_BANK_BYTES = PSUM_BYTES // PSUM_BANKS
RESERVED_SBUF_BYTES = 16_384  # per partition; a kernel's tiles do not reach into it
VARIABLE = "NEURON_PLATFORM_TARGET_OVERRIDE"


def placed_bytes(memory: str, size: int) -> int:
    """Bytes of a partition that a tile of `size` bytes takes where the compiler places it: in PSUM whole banks, because
    Tensor has one open group of products in each."""
    return -(-size // PSUM_BANK_BYTES) * PSUM_BANK_BYTES if memory == "psum" else size


@dataclasses.dataclass(frozen=True)
class Generation:
    """Limits of one generation of NeuronCores."""

    version: nc_version
    sbuf_bytes: int  # per partition
    max_moving_fp32: int  # columns of a matmul with an FP32 destination
    max_moving_bf16: int  # with a BF16 destination; 0: not allowed

    @property
    def number(self) -> int:
        return self.version.value

    @property
    def usable_sbuf_bytes(self) -> int:
        return self.sbuf_bytes - RESERVED_SBUF_BYTES


GENERATIONS = {
    2: Generation(nc_version.gen2, 196_608, 512, 0),
    3: Generation(nc_version.gen3, 229_376, 512, 0),
    4: Generation(nc_version.gen4, 262_144, 4_096, 8_192),
}
NAMES = {"gen2": 2, "trn1": 2, "inf2": 2, "v2": 2, "gen3": 3, "trn2": 3, "v3": 3, "gen4": 4, "trn3": 4, "v4": 4}

_chosen: Choice[Generation] = Choice("generation")


def generation(name: str | int | Generation) -> Generation:
    """The generation called gen2, trn1, inf2, v2, ... or 2, 3, 4. Raises KernelError."""
    if isinstance(name, Generation):
        return name
    found = GENERATIONS.get(name if isinstance(name, int) else NAMES.get(name.lower(), 0))
    if found is None:
        raise KernelError(f"{name!r} is no generation{closest(str(name), NAMES)}  (known: {', '.join(NAMES)})")
    return found


def target() -> Generation:
    """The generation that kernels are traced for: the innermost `targeting`, the variable, or v4."""
    if chosen := _chosen.get():
        return chosen
    name = os.environ.get(VARIABLE, "gen4")
    if name.lower() not in NAMES:
        raise KernelError(f"{VARIABLE}={name}: no generation{closest(name, NAMES)}  (known: {', '.join(NAMES)})")
    return generation(name)


class targeting:
    """Chooses the target while its block runs."""

    def __init__(self, name: str | int | Generation):
        self.generation = generation(name)

    def __enter__(self) -> Generation:
        _chosen.enter(self.generation)
        return self.generation

    def __exit__(self, *_: object) -> None:
        _chosen.leave()


class tile_sizes:
    """nl.tile_size: constants of the target."""

    pmax = PARTITIONS
    psum_fmax = psum_bank_fmax = PSUM_BANK_BYTES // 4
    psum_bank_fmax_bytes = PSUM_BANK_BYTES
    gemm_stationary_fmax = 128
    gemm_moving_fmax = 512
    bn_stats_fmax = 512
    psum_min_align = 4
    sbuf_min_align = 1
    psum_num_banks = PSUM_BANKS

    @property
    def sbuf_size_bytes(self) -> int:
        return PARTITIONS * target().sbuf_bytes

    @property
    def sbuf_fmax_bytes(self) -> int:
        return target().usable_sbuf_bytes

    @property
    def sbuf_fmax(self) -> int:
        return self.sbuf_fmax_bytes // 4

    @property
    def total_available_sbuf_size(self) -> int:
        return target().usable_sbuf_bytes
