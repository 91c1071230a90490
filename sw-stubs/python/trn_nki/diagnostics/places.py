# SPDX-License-Identifier: Apache-2.0
"""Places in kernel files."""
from __future__ import annotations

import itertools
import linecache
import os
import re
import sys
import types

import numpy

_PYTHON = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_OURS = (*(os.path.join(_PYTHON, name) + os.sep for name in ("nki", "trn_nki")), os.path.join(_PYTHON, "neuronxcc.py"))
_NUMPY = os.path.dirname(numpy.__file__) + os.sep
MAX_CALLERS = 8  # of a place
_is_ours: dict[str, bool] = {}
_starts: set[int] = set()  # ids of code objects, whose hashes are slow
_folders: dict[str, str] = {}  # that the user named by a relative path, which is the value; both paths end with a slash


def is_of_package(code: types.CodeType) -> bool:
    """Whether a function belongs to the packages nki or trn_nki."""
    return code.co_filename.startswith(_OURS)


def is_ours(code: types.CodeType) -> bool:
    """Whether a function belongs to the packages nki or trn_nki, or to Python or NumPy where they call them; not to a kernel."""
    name = code.co_filename
    known = _is_ours.get(name)
    if known is None:
        known = _is_ours[name] = (
            is_of_package(code) or name.startswith(("<frozen", "<__array_function__", _NUMPY)) or "/contextlib.py" in name
        )
    return known


def starts_kernels(code: types.CodeType) -> None:
    """Declares the function of this package that calls kernels: callers of a place end there."""
    _starts.add(id(code))


def show_as(folder: str, given: str) -> None:
    """Declares the relative path, "" for the current folder, by which the user named an absolute one."""
    _folders.setdefault(os.path.join(folder, ""), os.path.join(given, ""))


def shown(text: str) -> str:
    """A file's name, or a message with names of files, with the paths that the user wrote."""
    for folder, given in _folders.items():
        text = re.sub(rf"(?<![^\s'(]){re.escape(folder)}", given.replace("\\", r"\\"), text)
    return text


class Place:
    """A place in a kernel's file that a frame executes. Line and column are computed on demand.

    `callers` are the places of the calls that led to it, innermost first: of a helper function, the line of the kernel.
    """

    __slots__ = ("code", "instruction", "callers")

    def __init__(self, code: types.CodeType, instruction: int, callers: tuple["Place", ...] = ()):
        self.code, self.instruction, self.callers = code, instruction, callers

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def function(self) -> str:
        return self.code.co_name

    def _span(self) -> tuple[int, int, int, int]:
        """First and last line, first and last column, from 1."""
        found = next(itertools.islice(self.code.co_positions(), self.instruction // 2, None), (None,) * 4)
        line = found[0] or self.code.co_firstlineno
        while self.instruction == 0 and linecache.getline(self.file, line).lstrip().startswith("@"):
            line, found = line + 1, (None,) * 4  # the function, below its decorators
        start = found[2]
        return line, found[1] or line, 1 if start is None else start + 1, (found[3] or 0) + 1

    @property
    def line(self) -> int:
        return self._span()[0]

    @property
    def column(self) -> int:
        return self._span()[2]

    @property
    def short(self) -> str:
        """The file's name without its folder, and the line."""
        return f"{os.path.basename(self.file)}:{self.line}"

    def caret(self) -> str:
        """The source line with carets under the expression; empty when the file cannot be read."""
        line, last, start, end = self._span()
        text = linecache.getline(self.file, line).rstrip("\n")
        if not text:
            return ""
        if last != line or end <= start:
            end = len(text) + 1
        margin = "".join("\t" if letter == "\t" else " " for letter in text[: start - 1])
        return f"{text}\n{margin}{'^' * max(1, end - start)}"

    def excerpt(self) -> str:
        """caret(), and the same of each caller; lines begin with four spaces."""
        lines, previous = self.caret().splitlines(), self
        for caller in self.callers:
            if (caller.file, caller.line) != (previous.file, previous.line):  # a recursion, or a comprehension
                lines += [f"called at {caller}", *caller.caret().splitlines()]
            previous = caller
        return "".join(f"\n    {line}" for line in lines)

    def __str__(self) -> str:
        return f"{shown(self.file)}:{self.line}:{self.column}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.code, self.instruction) == (other.code, other.instruction)

    def __hash__(self) -> int:
        return hash((self.code, self.instruction))


def caller(skip: int = 1) -> Place:
    """The innermost frame outside of our packages, with its callers; the first `skip` frames above this function's caller are
    skipped."""
    frame = sys._getframe(skip)
    while is_ours(frame.f_code) and frame.f_back is not None:
        frame = frame.f_back
    return Place(frame.f_code, frame.f_lasti, _callers(frame.f_back))


def _callers(frame: types.FrameType | None) -> tuple[Place, ...]:
    """The frames of the user from this one to the kernel; none outside of a kernel."""
    found: tuple[Place, ...] = ()
    while frame is not None:
        if id(frame.f_code) in _starts:
            return found
        if len(found) < MAX_CALLERS and not is_ours(frame.f_code):
            found += (Place(frame.f_code, frame.f_lasti),)
        frame = frame.f_back
    return ()


def of_exception(error: BaseException) -> Place | None:
    """The innermost frame of a kernel in which an exception was raised or passed, with its callers."""
    found: list[Place] = []
    step = error.__traceback__
    while step is not None:
        if not is_ours(step.tb_frame.f_code):
            found.append(Place(step.tb_frame.f_code, step.tb_lasti))
        step = step.tb_next
    if not found:
        return None
    last, *callers = reversed(found)
    return Place(last.code, last.instruction, tuple(callers[:MAX_CALLERS]))
