# SPDX-License-Identifier: Apache-2.0
"""Exceptions of users' functions, which become errors of their kernels."""
from __future__ import annotations

from typing import NoReturn

from trn_nki.diagnostics import places
from trn_nki.diagnostics.errors import KernelError
from trn_nki.diagnostics.tracebacks import is_end
from trn_nki.values.operations import OPERATIONS


def report_exception(error: Exception, place: places.Place | None = None) -> NoReturn:
    """Raises a KernelError for an exception of a user's function, at `place` if no frame of the user raised it. The end of a
    debugger is raised unchanged."""
    if is_end(error):
        raise error
    raise KernelError(f"{type(error).__name__}: {error}{_advice(error)}", place=places.of_exception(error) or place) from error


def _advice(error: Exception) -> str:
    """For calls as NumPy and other dialects have them, whose instructions return tiles and take masks."""
    function = str(error).partition("(")[0]
    if isinstance(error, TypeError) and "missing" in str(error) and function in OPERATIONS:
        return "; functions of nki.isa write to a tile that nl.ndarray makes: dst="
    if isinstance(error, TypeError) and "unexpected keyword argument 'mask'" in str(error):
        return "; slice the tensor instead"
    if isinstance(error, TypeError) and "does not support ufuncs" in str(error):
        return "; write the function of nki.language: nl.exp(tile) for numpy.exp(tile)"
    return ""
