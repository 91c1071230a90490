# SPDX-License-Identifier: Apache-2.0
"""nki.isa: Generators of random numbers."""
from __future__ import annotations

from typing import Any

from trn_nki.trace.instructions import Instruction
from trn_nki.trace.recording import record
from trn_nki.values import engines

__all__ = ["rng", "rand2", "set_rng_seed", "rand_set_state", "rand_get_state"]


def rng(dst: Any, engine: Any = engines.engine.vector, name: Any = None) -> Instruction:
    """dst = random integers."""
    return record("rng", engine, name, {"dst": dst})


def rand2(dst: Any, min: Any, max: Any, name: Any = None) -> Instruction:
    """dst = random numbers between min and max."""
    return record("rand2", engines.engine.unknown, name, {"dst": dst, "min": min, "max": max})


def set_rng_seed(src_seeds: Any, name: Any = None) -> Instruction:
    """Seeds the Vector engine's generators."""
    return record("set_rng_seed", engines.engine.unknown, name, {"src_seeds": src_seeds})


def rand_set_state(src_seeds: Any, engine: Any = engines.engine.gpsimd, name: Any = None) -> Instruction:
    """Sets the state of the generators."""
    return record("rand_set_state", engine, name, {"src_seeds": src_seeds})


def rand_get_state(dst: Any, engine: Any = engines.engine.gpsimd, name: Any = None) -> Instruction:
    """dst = the state of the generators."""
    return record("rand_get_state", engine, name, {"dst": dst})
