# SPDX-License-Identifier: Apache-2.0
"""From recorded calls of nki.isa to the text of an engine program (doc/spec/neuron-core.md, 15.3).

    from trn_nki.compile import compile_recording
    compiled = compile_recording(recording)
    compiled.text          # for trn-asm
    compiled.arrays        # the tensors that it declares
"""
from __future__ import annotations

import dataclasses
from trn_nki.compile.allocation import allocate
from trn_nki.compile.collectives import collectives_of
from trn_nki.compile.dependences import Scheduler
from trn_nki.compile.emission import emit
from trn_nki.compile.loops import expand
from trn_nki.compile.lowering import lower
from trn_nki.compile.program import Array, Instruction
from trn_nki.compile.registers import assign
from trn_nki.tensors.storage import Storage
from trn_nki.trace.audit import audit
from trn_nki.trace.recording import Recording


@dataclasses.dataclass
class Compiled:
    """A program's text, and the name of the array of each storage in HBM."""

    recording: Recording
    text: str
    arrays: list[tuple[Storage, Array]]  # storage, array
    collectives: list[str]  # started by the program, in the syntax of the step `program` (doc/collectives.md)
    ranks: int = 1  # of its collectives


def compile_recording(recording: Recording) -> Compiled:
    """Raises KernelError."""
    audit(recording)
    program, operands = lower(recording)
    if not program.instructions:  # it returns its arguments
        program.instructions.append(Instruction("sync", "nop", ()))
    expand(program)
    assign(program)
    allocate(program)
    Scheduler(program).run()
    text = emit(program)
    collectives = collectives_of(program)
    return Compiled(
        recording,
        text,
        operands.arrays(),
        [collective.declaration() for collective in collectives],
        collectives[0].ranks if collectives else 1,
    )
