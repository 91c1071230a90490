# SPDX-License-Identifier: Apache-2.0
"""nki.isa: Generators of random numbers (doc/spec/neuron-core.md, 3.8)."""
from __future__ import annotations

from typing import TYPE_CHECKING

from trn_nki.trace.recording import record
from trn_nki.values import engines

if TYPE_CHECKING:
    from trn_nki.tensors.tensor import NkiTensor
    from trn_nki.tensors.argument_types import Engine, Scalar
    from trn_nki.trace.instructions import Instruction

__all__ = ["rng", "rand2", "set_rng_seed", "rand_set_state", "rand_get_state"]


def rng(dst: NkiTensor, engine: Engine = engines.engine.vector, name: str | None = None) -> Instruction:
    """dst = random integers.

    A tile of an integer type; GPSIMD has it from NeuronCore-v3. Specification: 8.4, row 47.
    """
    return record("rng", locals())


def rand2(dst: NkiTensor, min: Scalar, max: Scalar, name: str | None = None) -> Instruction:
    """dst = random numbers between min and max.

    A tile [P, F]; bounds: numbers or tiles [P, 1]. From NeuronCore-v4. Specification: 8.4, row 48.
    """
    return record("rand2", locals())


def set_rng_seed(src_seeds: NkiTensor, name: str | None = None) -> Instruction:
    """Seeds the Vector engine's generators.

    A tile of one 32-bit element. Specification: 8.4, row 49.
    """
    return record("set_rng_seed", locals())


def rand_set_state(src_seeds: NkiTensor, engine: Engine = engines.engine.gpsimd, name: str | None = None) -> Instruction:
    """Sets the state of the generators.

    A tile [P, 6] of type uint32 for GPSIMD, from NeuronCore-v3, or [P, 24] for Vector, from v4. Specification: 8.4, row 50.
    """
    return record("rand_set_state", locals())


def rand_get_state(dst: NkiTensor, engine: Engine = engines.engine.gpsimd, name: str | None = None) -> Instruction:
    """dst = the state of the generators.

    Tiles, engines and generations: those of `rand_set_state`. Specification: 8.4, row 50.
    """
    return record("rand_get_state", locals())
