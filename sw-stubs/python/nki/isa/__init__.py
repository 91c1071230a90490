# SPDX-License-Identifier: Apache-2.0
"""Instructions: each call is checked and recorded (doc/spec/neuron-core.md, 14).

Docstrings write the shape of a tile in SBUF or PSUM as [P, F], partitions and elements of each partition, of whatever
dimensions; tiles with the same letters have as many of them. Types are those that engines compute with (3.1) unless a docstring
says otherwise. Each function raises KernelError, at the line of its call, for operands that the section which it names does not
allow; numbers of sections and rows are those of doc/spec/neuron-core.md. `engine` names the engine that executes the
instruction, which the tracer chooses otherwise (15.3); `name` has no effect.
"""
from nki.isa.activations import *  # noqa: F401,F403
from nki.isa.constants import *  # noqa: F401,F403
from nki.isa.constants import engine
from nki.isa.data_movement import *  # noqa: F401,F403
from nki.isa.elementwise import *  # noqa: F401,F403
from nki.isa.gathers import *  # noqa: F401,F403
from nki.isa.matrices import *  # noqa: F401,F403
from nki.isa.random_numbers import *  # noqa: F401,F403
from nki.isa.reductions import *  # noqa: F401,F403
from nki.isa.registers import *  # noqa: F401,F403
from trn_nki.diagnostics.dialects import raise_missing as _raise_missing
from trn_nki.diagnostics.errors import KernelError as NkiValidationError
from trn_nki.trace.instructions import Instruction as NkiInstruction
from trn_nki.trace.registers import VirtualRegister
from trn_nki.values import generations as _generations
from trn_nki.values.engines import nc_version as _nc_version

tensor_engine, vector_engine, scalar_engine = engine.tensor, engine.vector, engine.scalar
gpsimd_engine, unknown_engine = engine.gpsimd, engine.unknown


def get_nc_version() -> _nc_version:
    """The generation that the kernel is traced for."""
    return _generations.target().version


def get_nc_sub_version() -> int:
    """0: the first revision of each generation."""
    return 0


def __getattr__(name: str) -> object:
    _raise_missing("nki.isa", name, globals())
