# SPDX-License-Identifier: Apache-2.0
"""The generators of random numbers of doc/spec/neuron-core.md, 3.8, of all lanes at once."""
from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy

from trn_nki.values.engines import engine

if TYPE_CHECKING:
    import numpy.typing as npt

    Words = npt.NDArray[numpy.uint32]

LANES, WORDS = 128, 6
_LFSR_MASK, _LFSR_STEPS = numpy.uint32(0x80200003), 32
_U32, _U64 = numpy.uint32, numpy.uint64


def _word(high: npt.ArrayLike, low: npt.ArrayLike) -> Words:
    """The upper half of the number that SplitMix64 makes of the state high * 2^32 + low."""
    z = (numpy.asarray(high, _U64) & _U64(0xFFFFFFFF)) << _U64(32) | numpy.asarray(low, _U64)
    z = z + _U64(0x9E3779B97F4A7C15)
    z = (z ^ z >> _U64(30)) * _U64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> _U64(27)) * _U64(0x94D049BB133111EB)
    return ((z ^ z >> _U64(31)) >> _U64(32)).astype(_U32)


class Lfsr:
    """Vector's generators of NeuronCore-v2 and v3: one for each lane."""

    def __init__(self) -> None:
        self.seed(0)

    def seed(self, seed: int) -> None:
        states = _word(seed, numpy.arange(LANES))
        self._states = numpy.where(states == 0, _U32(1), states)

    def numbers(self, lanes: int, count: int) -> Words:
        found, states = numpy.empty((lanes, count), _U32), self._states[:lanes]
        for column in range(count):
            for _ in range(_LFSR_STEPS):
                states = states >> _U32(1) ^ numpy.where(states & _U32(1), _LFSR_MASK, _U32(0))
            found[:, column] = states
        self._states[:lanes] = states
        return found


class Xorwow:
    """`generators` of them for each lane; element j of an instruction takes one from number j mod `generators`."""

    def __init__(self, generators: int):
        self.generators = generators
        self.seed(0)

    def seed(self, seed: int) -> None:
        words = _word(seed + 6 * numpy.arange(LANES)[:, None], numpy.arange(self.generators * WORDS)[None])
        self.states = words.reshape(LANES, self.generators, WORDS)

    def numbers(self, lanes: int, count: int) -> Words:
        found = numpy.empty((lanes, count), _U32)
        for column in range(count):
            s = self.states[:lanes, column % self.generators]
            t = s[:, 0] ^ s[:, 0] >> _U32(2)
            last = s[:, 4] ^ s[:, 4] << _U32(4) ^ t ^ t << _U32(1)
            s[:, 0:4] = s[:, 1:5].copy()
            s[:, 4], s[:, 5] = last, s[:, 5] + _U32(362437)
            found[:, column] = s[:, 4] + s[:, 5]
        return found


class Generator(Protocol):
    """Numbers for each lane."""

    def seed(self, seed: int) -> None:
        """Starts from a seed."""

    def numbers(self, lanes: int, count: int) -> Words:
        """The next `count` numbers of the first lanes."""


def generators_of(generation: int) -> dict[engine, Generator]:
    """Those of a core after reset."""
    found: dict[engine, Generator] = {engine.vector: Lfsr(), engine.gpsimd: Xorwow(1)}
    if generation >= 4:
        found[engine.vector] = Xorwow(4)
    return found
