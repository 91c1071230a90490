# SPDX-License-Identifier: Apache-2.0
"""A NumPy reference that executes recorded instructions with the numbers of doc/spec/neuron-core.md, 3.

It shares no code with the engines' models or the compiler, so a difference shows an error in one of them.
"""
from __future__ import annotations

from typing import Any

from trn_nki.simulate.machine import execute
from trn_nki.trace import Kernel, host_arrays, record_kernel

__all__ = ["Simulated", "execute"]


class Simulated:
    """Calling it traces the kernel and executes the recording. Results have the kernel's structure."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def __getitem__(self, lnc: int | tuple[int, ...] | list[int]) -> "Simulated":
        return Simulated(self.kernel[lnc])

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        recording = record_kernel(self.kernel, arguments, named)
        results = iter(execute(recording))
        return host_arrays.in_structure(recording.result, lambda tensor: next(results))
