# SPDX-License-Identifier: Apache-2.0
"""Random numbers (doc/spec/neuron-core.md, 3.8)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from trn_nki.simulate import formats
from trn_nki.simulate.core import SimulatedCore
from trn_nki.simulate.generators import WORDS, Xorwow
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.values.engines import engine

if TYPE_CHECKING:
    import numpy.typing as npt


def _numbers(core: SimulatedCore, dst: NkiTensor) -> npt.NDArray[numpy.uint32]:
    return core.generators[core.engine].numbers(dst.shape[0], dst.free_size)


def _xorwow(core: SimulatedCore) -> Xorwow:
    """The generators whose state instructions read and write."""
    held = core.generators[core.engine]
    assert isinstance(held, Xorwow)
    return held


def rng(core: SimulatedCore, a: dict[str, Any]) -> None:
    size = a["dst"].dtype.itemsize
    core.store_raw(a["dst"], _numbers(core, a["dst"]).astype({1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32}[size]))


def rand2(core: SimulatedCore, a: dict[str, Any]) -> None:
    low, high = core.scalar(a["min"]), core.scalar(a["max"])
    unit = (_numbers(core, a["dst"]) >> numpy.uint32(8)).astype(numpy.float32) * numpy.float32(2.0**-24)
    core.store(a["dst"], low + unit * (high - low))


def dropout(core: SimulatedCore, a: dict[str, Any]) -> None:
    data, dst = a["data"], a["dst"]
    rate = numpy.broadcast_to(numpy.float64(core.scalar(a["prob"])), (data.shape[0], data.free_size))
    dropped = _numbers(core, dst) * 2.0**-32 < rate
    if data.dtype is dst.dtype:
        raw = core.raw(data)
        core.store_raw(dst, numpy.where(dropped, raw.dtype.type(0), raw))
    else:
        kept = formats.to_float32(core.raw(data), data.dtype)
        core.store(dst, numpy.where(dropped, numpy.float32(0), kept))


def set_rng_seed(core: SimulatedCore, a: dict[str, Any]) -> None:
    seed = core.raw(a["src_seeds"]).reshape(-1)[:1].view(numpy.uint32)[0]
    core.generators[engine.vector].seed(int(seed))


def rand_set_state(core: SimulatedCore, a: dict[str, Any]) -> None:
    words = core.raw(a["src_seeds"])
    held = _xorwow(core)
    held.states[: len(words)] = words.view(numpy.uint32).reshape(len(words), held.generators, WORDS)


def rand_get_state(core: SimulatedCore, a: dict[str, Any]) -> None:
    held = _xorwow(core)
    core.store_raw(a["dst"], held.states[: a["dst"].shape[0]].reshape(a["dst"].shape[0], -1).copy())


OPERATIONS = {function.__name__: function for function in (rng, rand2, dropout, set_rng_seed, rand_set_state, rand_get_state)}
