# SPDX-License-Identifier: Apache-2.0
"""Tracebacks of errors in kernels: the user's frames only, unless the variable TRN_NKI_TRACEBACK is "full"."""
from __future__ import annotations

import os
import sys
import types
from typing import Callable

from trn_nki.diagnostics import places

VARIABLE = "TRN_NKI_TRACEBACK"
_previous: Callable[[type[BaseException], BaseException, types.TracebackType | None], object] | None = None


class ReportedError(Exception):
    """Base of errors whose message says what the user has to know."""

    def __init__(self, message: str):
        super().__init__(message)
        _hide_from_pytest()


def is_full() -> bool:
    return os.environ.get(VARIABLE) == "full"


def is_end(error: BaseException) -> bool:
    """Whether the user ended a debugger: pdb by BdbQuit, that of pytest by Exit. Such an exception is no error of the kernel."""
    return type(error).__module__ in ("bdb", "_pytest.outcomes")


def install() -> None:
    """Uncaught errors are printed by this module from now on, other exceptions as before."""
    global _previous
    if _previous is None:
        _previous, sys.excepthook = sys.excepthook, _report


def _report(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
    if is_end(error) and _passes_package(trace):
        return
    if isinstance(error, ReportedError) and not is_full():
        trace = shorten(error)
    assert _previous is not None  # install() sets it
    _previous(kind, error, trace)


def shorten(error: BaseException) -> types.TracebackType | None:
    """Removes our frames from the traceback of an exception and of those that led to it."""
    step: BaseException | None = error
    while step is not None:
        step.__traceback__ = _of_user(step.__traceback__)
        step = step.__cause__ or (None if step.__suppress_context__ else step.__context__)
    return error.__traceback__


def _of_user(trace: types.TracebackType | None) -> types.TracebackType | None:
    kept: list[types.TracebackType] = []
    while trace is not None:
        if not places.is_ours(trace.tb_frame.f_code):
            kept.append(trace)
        trace = trace.tb_next
    made: types.TracebackType | None = None
    for entry in reversed(kept):
        made = types.TracebackType(made, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return made


def _passes_package(trace: types.TracebackType | None) -> bool:
    while trace is not None:
        if places.is_of_package(trace.tb_frame.f_code):
            return True
        trace = trace.tb_next
    return False


def _hide_from_pytest() -> None:
    """pytest leaves out frames of modules with this variable."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        if places.is_of_package(frame.f_code):
            frame.f_globals["__tracebackhide__"] = not is_full()
        frame = frame.f_back
