# SPDX-License-Identifier: Apache-2.0
"""Calls of a jitted kernel with arrays."""
from __future__ import annotations

import contextvars
import os
from typing import Any

from trn_nki.compile import compile_recording
from trn_nki.run.boards import DEFAULT_BOARDS, generation_of
from trn_nki.run.execution import Options, execute
from trn_nki.trace import host_arrays, record_kernel
from trn_nki.values import generations

BOARD_VARIABLE, CONNECT_VARIABLE = "TRN_NKI_BOARD", "TRN_NKI_CONNECT"
_chosen: contextvars.ContextVar[Options | None] = contextvars.ContextVar("platform", default=None)


class platform:
    """Selects the platform of kernel calls in its block."""

    def __init__(self, board: str | None = None, *, connect: str | None = None, core: int = 0):
        self.options = Options(connect=connect, core=core)
        if board is not None:
            self.options.board = board
        self._generation = generation_of(board) if board else None
        self._targeting: Any = None

    def __enter__(self) -> "platform":
        self._before = _chosen.set(self.options)
        if self._generation is not None:
            self._targeting = generations.targeting(self._generation)
            self._targeting.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        _chosen.reset(self._before)
        if self._targeting is not None:
            self._targeting.__exit__(*error)


def _options() -> Options:
    if chosen := _chosen.get():
        return chosen
    board = os.environ.get(BOARD_VARIABLE) or DEFAULT_BOARDS[generations.target().number]
    return Options(board=board, connect=os.environ.get(CONNECT_VARIABLE))


def run_kernel(kernel: Any, arguments: Any, named: dict[str, Any]) -> Any:
    """Results as arrays, in the structure that the kernel returned. Raises KernelError, RunError."""
    options = _options()
    generation = None if options.connect else generation_of(options.board)
    recording = record_kernel(kernel, arguments, named, generation=generation)
    outcome = execute(compile_recording(recording), options)
    results = iter(outcome.outputs)
    return host_arrays.in_structure(recording.result, lambda tensor: next(results))
