# SPDX-License-Identifier: Apache-2.0
"""Calls of a jitted kernel with arrays."""
from __future__ import annotations

import os
from typing import Any

from trn_nki.compile import compile_recording
from trn_nki.run.boards import DEFAULT_BOARDS, generation_of
from trn_nki.run.execution import Options, execute
from trn_nki.trace import record_kernel
from trn_nki.values import data_types, generations

BOARD_VARIABLE, CONNECT_VARIABLE = "TRN_NKI_BOARD", "TRN_NKI_CONNECT"
_chosen: list[Options] = []


class platform:
    """Selects the platform of kernel calls in its block."""

    def __init__(self, board: str | None = None, *, connect: str | None = None, core: int = 0):
        self.options = Options(connect=connect, core=core)
        if board is not None:
            self.options.board = board
        self._generation = generation_of(board) if board else None
        self._targeting: Any = None

    def __enter__(self) -> "platform":
        _chosen.append(self.options)
        if self._generation is not None:
            self._targeting = generations.targeting(self._generation)
            self._targeting.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        _chosen.pop()
        if self._targeting is not None:
            self._targeting.__exit__(*error)


def _options() -> Options:
    if _chosen:
        return _chosen[-1]
    board = os.environ.get(BOARD_VARIABLE) or DEFAULT_BOARDS[generations.target().number]
    return Options(board=board, connect=os.environ.get(CONNECT_VARIABLE))


def run_kernel(kernel: Any, arguments: Any, named: dict[str, Any]) -> Any:
    """Results as arrays, in the structure that the kernel returned. Raises KernelError, RunError."""
    options = _options()
    generation = None if options.connect else generation_of(options.board)
    recording = record_kernel(kernel, arguments, named, generation=generation)
    outcome = execute(compile_recording(recording), options)
    found = {id(tensor): value for tensor, value in zip(recording.outputs, outcome.outputs)}
    return _replaced(recording.result, found)


def _replaced(result: Any, found: dict[int, Any]) -> Any:
    if id(result) in found:
        array = found[id(result)]
        has_numpy_type = array.dtype in (data_types.float32, data_types.float16) or array.dtype.is_integer
        return array.raw if has_numpy_type else array
    if isinstance(result, (tuple, list)):
        return type(result)(_replaced(part, found) for part in result)
    if isinstance(result, dict):
        return {key: _replaced(part, found) for key, part in result.items()}
    return result
