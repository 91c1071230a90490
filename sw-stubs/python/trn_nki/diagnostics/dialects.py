# SPDX-License-Identifier: Apache-2.0
"""Names of other dialects of NKI, and what replaces them here (doc/nki.md, "Other dialects")."""
from __future__ import annotations

from typing import Iterable

from trn_nki.diagnostics.errors import closest

_SLICES = "slice tensors, as in x[0:128, nl.ds(start, size)]"
_RUN = "a call of the kernel with arrays runs it on a board"

_OF_NKI = {
    "simulate_kernel": "nki.simulate(kernel)(x, y)",
    "baremetal": _RUN,
    "benchmark": f"{_RUN}; `trn-nki run` prints its time, `trn-nki profile` where it went",
    "profile": "`trn-nki profile FILE.py:FUNCTION` writes where the time went",
    "trace": "@nki.jit",
}
_OF_LANGUAGE = {
    "mgrid": _SLICES,
    "arange": _SLICES,
    "par_dim": "the first dimension of a tile is its partitions: nl.ndarray((128, 512), ...)",
    "spmd_dim": "kernel[2] runs on two cores",
    "nc": "kernel[2] runs on two cores",
    "loop_reduce": "a Python loop that adds with nisa.tensor_tensor",
    "atomic_rmw": "nisa.dma_compute",
    "static_cast": "nisa.tensor_copy to a tile of the type",
    "copy_predicated": "nisa.tensor_copy_predicated",
}


def no_attribute(module: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that a module of the package lacks."""
    replacements = {"nki": _OF_NKI, "nki.language": _OF_LANGUAGE}.get(module, {})
    if name in replacements:
        return f"{module} has no '{name}', which is of another dialect of NKI; here: {replacements[name]}"
    return f"{module} has no '{name}'{closest(name, known)}"
