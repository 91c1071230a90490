# SPDX-License-Identifier: Apache-2.0
"""`while register:` in a kernel.

CPython 3.11 compiles the test of a while statement twice: at its top, with a jump forward past the body, and
behind the body, with a jump back. Both have the same place in the source, which distinguishes the first one
from an if statement.
"""
from __future__ import annotations

import dis
import functools
import types
from trn_nki.diagnostics import places
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.indirection import DeviceInteger
from trn_nki.trace import recording
from trn_nki.trace.instructions import WhileLoop

_AGAIN = "POP_JUMP_BACKWARD_IF_TRUE"


@functools.lru_cache(maxsize=256)
def _jumps(code: types.CodeType) -> dict[int, tuple[str, dis.Positions | None]]:
    """Offset of each jump on a condition -> its name and its place in the source."""
    return {step.offset: (step.opname, step.positions) for step in dis.get_instructions(code) if "JUMP" in step.opname}


def test(register: DeviceInteger, frame: types.FrameType) -> bool:
    """The truth value of a register in a kernel's statement. Raises KernelError outside of a while statement."""
    core = recording.current("a register")
    jumps = _jumps(frame.f_code)
    name, place = jumps.get(frame.f_lasti, ("", None))
    if name == _AGAIN:
        core.close_loop()
        return False
    if name == "POP_JUMP_FORWARD_IF_FALSE" and (_AGAIN, place) in jumps.values():
        core.open_loop(WhileLoop(register, places.Place(frame.f_code, frame.f_lasti)))
        return True
    raise KernelError(
        "the value of a register is not known while the kernel is traced; only `while register:` may test it",
        place=places.Place(frame.f_code, frame.f_lasti),
    )
