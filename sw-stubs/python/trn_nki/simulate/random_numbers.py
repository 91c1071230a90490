# SPDX-License-Identifier: Apache-2.0
"""Random numbers: the generators of doc/spec/neuron-core.md, 3.8, of all lanes at once."""
from __future__ import annotations

from typing import Any

import numpy

from trn_nki.simulate import formats
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values.engines import engine

LANES, WORDS = 128, 6
_LFSR_MASK, _LFSR_STEPS = numpy.uint32(0x80200003), 32
_U32, _U64 = numpy.uint32, numpy.uint64


def _word(high: Any, low: Any) -> numpy.ndarray:
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

    def numbers(self, lanes: int, count: int) -> numpy.ndarray:
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

    def numbers(self, lanes: int, count: int) -> numpy.ndarray:
        found = numpy.empty((lanes, count), _U32)
        for column in range(count):
            s = self.states[:lanes, column % self.generators]
            t = s[:, 0] ^ s[:, 0] >> _U32(2)
            last = s[:, 4] ^ s[:, 4] << _U32(4) ^ t ^ t << _U32(1)
            s[:, 0:4] = s[:, 1:5].copy()
            s[:, 4], s[:, 5] = last, s[:, 5] + _U32(362437)
            found[:, column] = s[:, 4] + s[:, 5]
        return found


def generators_of(generation: int) -> dict[engine, Any]:
    """Those of a core after reset."""
    return {engine.vector: Xorwow(4) if generation >= 4 else Lfsr(), engine.gpsimd: Xorwow(1)}


def _numbers(core: Any, dst: NkiTensor) -> numpy.ndarray:
    return core.generators[core.engine].numbers(dst.shape[0], dst.free_size)


def rng(core: Any, a: dict[str, Any]) -> None:
    size = a["dst"].dtype.itemsize
    core.store_raw(a["dst"], _numbers(core, a["dst"]).astype({1: numpy.uint8, 2: numpy.uint16, 4: _U32}[size]))


def rand2(core: Any, a: dict[str, Any]) -> None:
    low, high = core.scalar(a["min"]), core.scalar(a["max"])
    unit = (_numbers(core, a["dst"]) >> _U32(8)).astype(numpy.float32) * numpy.float32(2.0**-24)
    core.store(a["dst"], low + unit * (high - low))


def dropout(core: Any, a: dict[str, Any]) -> None:
    data, dst = a["data"], a["dst"]
    rate = numpy.broadcast_to(numpy.float64(core.scalar(a["prob"])), (data.shape[0], data.free_size))
    dropped = _numbers(core, dst) * 2.0**-32 < rate
    if data.dtype is dst.dtype:
        raw = core.raw(data)
        core.store_raw(dst, numpy.where(dropped, raw.dtype.type(0), raw))
    else:
        kept = formats.to_float32(core.raw(data), data.dtype)
        core.store(dst, numpy.where(dropped, numpy.float32(0), kept))


def set_rng_seed(core: Any, a: dict[str, Any]) -> None:
    seed = core.raw(a["src_seeds"]).reshape(-1)[:1].view(_U32)[0]
    core.generators[engine.vector].seed(int(seed))


def rand_set_state(core: Any, a: dict[str, Any]) -> None:
    words = core.raw(a["src_seeds"])
    held = core.generators[core.engine]
    held.states[: len(words)] = words.view(_U32).reshape(len(words), held.generators, WORDS)


def rand_get_state(core: Any, a: dict[str, Any]) -> None:
    held = core.generators[core.engine]
    core.store_raw(a["dst"], held.states[: a["dst"].shape[0]].reshape(a["dst"].shape[0], -1).copy())


OPERATIONS = {function.__name__: function for function in (rng, rand2, dropout, set_rng_seed, rand_set_state, rand_get_state)}
