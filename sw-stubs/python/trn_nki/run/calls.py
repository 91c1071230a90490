# SPDX-License-Identifier: Apache-2.0
"""Calls of a jitted kernel with arrays."""
from __future__ import annotations

import os
from typing import Any

from trn_nki.compile import compile_recording
from trn_nki.run.boards import generation_of
from trn_nki.run.execution import Options, execute
from trn_nki.trace import Kernel, host_arrays, record_kernel
from trn_nki.values import generations
from trn_nki.values.choices import Choice

BOARD_VARIABLE, CONNECT_VARIABLE = "TRN_NKI_BOARD", "TRN_NKI_CONNECT"
_chosen: Choice[Options] = Choice("platform")


class platform:
    """Selects the platform of kernel calls in its block. Threads that the block starts do not have it."""

    def __init__(self, board: str | None = None, *, connect: str | None = None, core: int = 0):
        self.options = Options(board, connect, core=core)
        generation = generation_of(board) if board else None
        self._targeting = None if generation is None else generations.targeting(generation)

    def __enter__(self) -> "platform":
        _chosen.enter(self.options)
        if self._targeting is not None:
            self._targeting.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        _chosen.leave()
        if self._targeting is not None:
            self._targeting.__exit__(*error)


def _options() -> Options:
    if chosen := _chosen.get():
        return chosen
    return Options(os.environ.get(BOARD_VARIABLE), os.environ.get(CONNECT_VARIABLE))


def run_kernel(kernel: Kernel, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Results as arrays, in the structure that the kernel returned. Raises KernelError, RunError."""
    options = _options()
    assert options.board is not None
    generation = None if options.connect else generation_of(options.board)
    recording = record_kernel(kernel, arguments, named, generation=generation)
    outcome = execute(compile_recording(recording), options)
    results = iter(outcome.outputs)
    return host_arrays.in_structure(recording.result, lambda tensor: next(results))
