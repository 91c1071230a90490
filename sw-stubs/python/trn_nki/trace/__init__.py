# SPDX-License-Identifier: Apache-2.0
"""Recording: a kernel's Python runs once for each core, and its nki.isa calls become a list.

    from trn_nki.trace import record_kernel
    recording = record_kernel(kernel, [a, b], generation="gen4", lnc=1)
    for item in recording.cores[0].body:      # Instruction, Loop or WhileLoop
        print(item.engine, item.operation, item.writes, item.reads, item.place)

The classes: recording.py (Recording, Core), instructions.py (Instruction, Loop, WhileLoop),
registers.py (VirtualRegister), values/operations.py (which arguments an operation reads and writes).
"""
from trn_nki.trace.instructions import Instruction, Loop, WhileLoop
from trn_nki.trace.kernels import Kernel, record_kernel
from trn_nki.trace.recording import Core, Recording
from trn_nki.trace.registers import VirtualRegister

__all__ = ["Core", "Instruction", "Kernel", "Loop", "Recording", "VirtualRegister", "WhileLoop", "record_kernel"]
