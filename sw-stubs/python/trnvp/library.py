# SPDX-License-Identifier: Apache-2.0
"""The C interface of libtrnvp.so (sw-stubs/library/include/trnvp.h) through ctypes."""
from __future__ import annotations

import ctypes
import functools
import json
import os
import pathlib
from typing import Any

from trnvp_control import ControlError, Error

from trnvp import programs
from trnvp.errors import Ended, InvalidArgument, LimitReached, MissingProgram, Stalled, Unavailable

_ABI = 0
_NAME = f"libtrnvp.so.{_ABI}"

Handle = ctypes.c_void_p
CONDITION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
ON_TEXT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
ON_LINE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
ON_MESSAGE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32)

# trnvp_status
OK, INVALID_ARGUMENT, REFUSED, NOT_FOUND, NO_RESPONSE, UNAVAILABLE = range(6)
TIME_LIMIT, WALL_LIMIT, STALLED, PAUSED, ENDED, OUT_OF_MEMORY, FAILED = range(6, 13)

_TEXT, _U32, _U64, _BYTES = ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
_PU32, _PU64, _PBYTES, _PHANDLE = (ctypes.POINTER(kind) for kind in (_U32, _U64, _BYTES, Handle))

# Functions that return a status, and their parameters.
_CALLS: dict[str, list[Any]] = {
    "create": [_TEXT, ctypes.c_size_t, ctypes.POINTER(_TEXT), _PHANDLE],
    "destroy": [Handle],
    "run_until": [Handle, _U64],
    "run_until_true": [Handle, CONDITION, _BYTES, _U64, ctypes.c_double],
    "call": [Handle, _TEXT, _TEXT, ctypes.POINTER(_TEXT)],
    "peek": [Handle, _TEXT, _U64, _BYTES, _U64],
    "poke": [Handle, _TEXT, _U64, _BYTES, _U64],
    "deposit": [Handle, _TEXT, _U64, _BYTES, _U64],
    "map": [Handle, _TEXT, _U64, _U64, ctypes.c_int, _PBYTES],
    "on_console": [Handle, ON_TEXT, _BYTES],
    "on_log": [ON_LINE, _BYTES],
    "find_function": [Handle, _TEXT, _PHANDLE],
    "bar_address": [Handle, _U32, _PU64],
    "bar_read": [Handle, _U32, _U64, _BYTES, _U64],
    "bar_write": [Handle, _U32, _U64, _BYTES, _U64],
    "config_read": [Handle, _U32, _U32, _PU32],
    "config_write": [Handle, _U32, _U32, _U32],
    "host_alloc": [Handle, _U64, _PBYTES, _PU64],
    "host_free": [Handle, _U64, _U64],
    "on_interrupt": [Handle, _U32, ON_MESSAGE, _BYTES],
    "function_reset": [Handle],
    "check_fork": [Handle],
}


def _file() -> str:
    """The library in the variable TRNVP_BUILD; of this source tree's build; of the prefix in which this file is installed; or
    what the dynamic linker finds."""
    folders = []
    given = os.environ.get(programs.VARIABLE)
    if given:
        folders.append(pathlib.Path(given))
    above = pathlib.Path(__file__).resolve().parents
    folders += [above[3] / "build", above[4] / "lib", *sorted((above[4] / "lib").glob("*-linux-gnu")), above[4] / "lib64"]
    return next((str(folder / _NAME) for folder in folders if (folder / _NAME).exists()), _NAME)


@functools.cache
def load() -> ctypes.CDLL:
    """The library, with the types of its functions. Raises MissingProgram."""
    file = _file()
    try:
        library = ctypes.CDLL(file)
    except OSError as error:
        raise MissingProgram(
            f"libtrnvp.so cannot be loaded ({error}): build the project, or set {programs.VARIABLE} to its build folder"
        ) from None
    library.trnvp_abi.restype = _U32
    if library.trnvp_abi() != _ABI:
        raise MissingProgram(f"{file} has the interface {library.trnvp_abi()} instead of {_ABI}")
    for name, parameters in _CALLS.items():
        function = getattr(library, f"trnvp_{name}")
        function.argtypes = parameters
        function.restype = ctypes.c_int
    library.trnvp_last_error.restype = _TEXT
    library.trnvp_time_ps.argtypes = [Handle]
    library.trnvp_time_ps.restype = _U64
    library.trnvp_bar_size.argtypes = [Handle, _U32]
    library.trnvp_bar_size.restype = _U64
    library.trnvp_interrupt_vectors.argtypes = [Handle]
    library.trnvp_interrupt_vectors.restype = _U32
    return library


def last_error() -> str:
    """The sentence of the last failure."""
    return str(load().trnvp_last_error().decode(errors="replace"))


def exception(status: int, result: bytes | None = None) -> Error:
    """The exception for a status that is not OK. `result`: of trnvp_call()."""
    text = last_error()
    if status == INVALID_ARGUMENT and result is None:
        return InvalidArgument(text)
    if status in (INVALID_ARGUMENT, REFUSED, NOT_FOUND, NO_RESPONSE):
        codes = {INVALID_ARGUMENT: -32602, REFUSED: -32000, NOT_FOUND: -32001, NO_RESPONSE: -32002}
        refused = json.loads(result) if result else {}
        return ControlError(text, int(refused.get("code", codes[status])))
    kinds: dict[int, type[Error]] = {UNAVAILABLE: Unavailable, STALLED: Stalled, WALL_LIMIT: LimitReached, ENDED: Ended}
    return kinds.get(status, Error)(text)
