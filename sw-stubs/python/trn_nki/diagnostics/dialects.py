# SPDX-License-Identifier: Apache-2.0
"""Names of other dialects of NKI, and what replaces them here (doc/nki.md, "Other dialects")."""
from __future__ import annotations

import dis
import sys
from typing import Iterable, Mapping, NoReturn

from trn_nki.diagnostics.errors import closest

_SLICES = "slice tensors, as in x[0:128, nl.ds(start, size)]"
_RUN = "a call of the kernel with arrays runs it on a board"

_OF_NKI = {
    "simulate_kernel": "nki.simulate(kernel)(x, y)",
    "baremetal": _RUN,
    "benchmark": f"{_RUN}; `trn-nki run` prints its time, `trn-nki profile` where it went",
    "profile": "`trn-nki profile FILE.py:FUNCTION` writes where the time went",
    "trace": "@nki.jit",
    "compiler": "the compiler chooses places; nl.ndarray(..., address=(partition, byte)) fixes one",
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
_UNKNOWN = "values are not known while the kernel is traced; nki.simulate(kernel)(x) returns results"
_CONVERTED = "nisa.tensor_copy to a tile of the type"
_OF_TENSOR = {"T": "nl.transpose(tile)", "astype": _CONVERTED, "to": _CONVERTED, "item": _UNKNOWN, "numpy": _UNKNOWN, "tolist": _UNKNOWN}
_DYNAMIC = "nisa.tensor_copy of a slice that begins at a register: x[:, nl.ds(register, size)]"
_OF_ISA = {"tensor_copy_dynamic_src": _DYNAMIC, "tensor_copy_dynamic_dst": _DYNAMIC}
_language: Mapping[str, object] = {}
_OF = {"nki": _OF_NKI, "nki.language": _OF_LANGUAGE, "nki.isa": _OF_ISA}


def raise_missing(module: str, name: str, known: Iterable[str]) -> NoReturn:
    """For `__getattr__` of a module of the package, which lacks the name. Raises AttributeError; ImportError in
    `from MODULE import NAME`, where Python would replace the message of an AttributeError."""
    user = sys._getframe(2)
    is_import = user.f_code.co_code[user.f_lasti] == dis.opmap["IMPORT_FROM"]
    message = _no_name(module, name, known)
    raise ImportError(message) if is_import else AttributeError(message, name=name, obj=None)  # Python suggests nothing for None


def names_of_language(names: Mapping[str, object]) -> None:
    """Declares the names of nki.language, as they are when a message is made."""
    global _language
    _language = names


def language_function(name: str) -> str:
    """ "nl.NAME", "" if nki.language has no such function."""
    return f"nl.{name}" if callable(_language.get(name)) else ""


def no_attribute_of_tensor(name: str, known: Iterable[str]) -> str:
    replacement = _OF_TENSOR.get(name)
    if replacement is None and (call := language_function(name)):
        replacement = f"{call}(tile)"
    return f"a tensor has no '{name}'{f'; write {replacement}' if replacement else closest(name, known)}"


def _no_name(module: str, name: str, known: Iterable[str]) -> str:
    if replacement := _OF[module].get(name):
        return f"{module} has no '{name}', which is of another dialect of NKI; here: {replacement}"
    return f"{module} has no '{name}'{closest(name, known)}"
