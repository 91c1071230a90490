# SPDX-License-Identifier: Apache-2.0
"""nki.isa: registers of the engines."""
from __future__ import annotations

from typing import Any

from trn_nki.diagnostics.errors import KernelError
from trn_nki.trace.recording import record
from trn_nki.trace.registers import VirtualRegister
from trn_nki.values.engines import engine

__all__ = ["register_alloc", "register_move", "register_load", "register_store"]


def register_alloc(x: Any = None) -> VirtualRegister:
    """A new register, holding x if it is given: an integer, or a tensor of one element."""
    register = VirtualRegister()
    if hasattr(x, "storage"):
        record("register_load", engine.unknown, None, {"dst": register, "src": x})
    elif x is not None:
        record("register_move", engine.unknown, None, {"dst": register, "src": x})
    return register


def register_move(dst: Any, src: Any) -> Any:
    """dst = src, an integer or a register."""
    _writable(dst)
    return record("register_move", engine.unknown, None, {"dst": dst, "src": src})


def register_load(dst: Any, src: Any) -> Any:
    """dst = the one element of src."""
    _writable(dst)
    return record("register_load", engine.unknown, None, {"dst": dst, "src": src})


def register_store(dst: Any, src: Any) -> Any:
    """The one element of dst = src."""
    return record("register_store", engine.unknown, None, {"dst": dst, "src": src})


def _writable(register: Any) -> None:
    if not isinstance(register, VirtualRegister):
        raise KernelError(f"{register!r} is no register; nisa.register_alloc makes one")
    if register.frozen:
        raise KernelError("the counter of a loop cannot be written; the loop sets it")
    if register.has_dependents:
        raise KernelError(
            "a register that arithmetic gave, and that other arithmetic used, cannot be written; write one of " "nisa.register_alloc", "8.1"
        )
    register.factor, register.bounds = 1, None
