# SPDX-License-Identifier: Apache-2.0
"""nki.isa: registers of the engines (doc/spec/neuron-core.md, 8.1)."""
from __future__ import annotations

from typing import TYPE_CHECKING

from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.tensor import NkiTensor
from trn_nki.trace.recording import record
from trn_nki.trace.registers import VirtualRegister

if TYPE_CHECKING:
    from trn_nki.tensors.argument_types import RegisterOrInteger
    from trn_nki.trace.instructions import Instruction

__all__ = ["register_alloc", "register_move", "register_load", "register_store"]


def register_alloc(x: RegisterOrInteger | NkiTensor | None = None) -> VirtualRegister:
    """A new register, holding x if it is given: an integer, or a tensor of one element.

    Raises KernelError for a tensor of another size, or whose type is no integer of up to 32 bits.
    """
    register = VirtualRegister()
    if isinstance(x, NkiTensor):
        record("register_load", {"dst": register, "src": x})
    elif x is not None:
        record("register_move", {"dst": register, "src": x})
    return register


def register_move(dst: VirtualRegister, src: RegisterOrInteger) -> Instruction:
    """dst = src, an integer or a register.

    Raises KernelError for a `dst` that is the counter of a loop, or on whose value other registers depend.
    """
    _check_writable(dst)
    return record("register_move", locals())


def register_load(dst: VirtualRegister, src: NkiTensor) -> Instruction:
    """dst = the one element of src.

    Raises KernelError as `register_move`, and for a `src` of another size, or whose type is no integer of up to 32 bits.
    """
    _check_writable(dst)
    return record("register_load", locals())


def register_store(dst: NkiTensor, src: RegisterOrInteger) -> Instruction:
    """The one element of dst = src.

    Raises KernelError for a `dst` of another size, or of a type that no engine computes with; a float type receives the bits
    of an FP32 number.
    """
    return record("register_store", locals())


def _check_writable(register: VirtualRegister) -> None:
    if not isinstance(register, VirtualRegister):
        raise KernelError(f"{register!r} is no register; nisa.register_alloc makes one")
    if register.frozen:
        raise KernelError("the counter of a loop cannot be written; the loop sets it")
    if register.has_dependents:
        raise KernelError(
            "a register that arithmetic gave, and that other arithmetic used, cannot be written; write one of nisa.register_alloc", "8.1"
        )
    register.factor, register.bounds = 1, None
