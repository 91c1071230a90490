# SPDX-License-Identifier: Apache-2.0
"""`while register:` in a kernel.

The place of the expression that Python tests tells the statement, which is looked up in the source's syntax tree.
The first test of a statement opens a loop of the device, the next one closes it.
"""
from __future__ import annotations

import ast
import functools
import itertools
import linecache
import types
from collections.abc import Iterator
from trn_nki.diagnostics import places
from trn_nki.diagnostics.errors import KernelError
from trn_nki.tensors.indirection import DeviceInteger
from trn_nki.trace import recording
from trn_nki.trace.instructions import WhileLoop

Span = tuple[int | None, int | None, int | None, int | None]  # first and last line, first and last column


def _breaks(body: list[ast.stmt]) -> Iterator[ast.Break]:
    """The `break` statements that leave the loop of this body."""
    for statement in body:
        if isinstance(statement, ast.Break):
            yield statement
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            if name == "body" and isinstance(
                statement, (ast.While, ast.For, ast.AsyncFor, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            ):
                continue
            yield from _breaks(getattr(statement, name, []))


@functools.lru_cache(maxsize=16)
def _statements(source: str) -> dict[Span, ast.While]:
    """The `while` statements of a file, by the places at which a frame tests them: of the test; in CPython 3.11 of the statement."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):  # the file has changed since it was imported
        return {}
    return {
        (place.lineno, place.end_lineno, place.col_offset, place.end_col_offset): node
        for node in ast.walk(tree)
        if isinstance(node, ast.While) and not isinstance(node.test, (ast.BoolOp, ast.UnaryOp, ast.IfExp))
        for place in (node, node.test)
    }


def _statement(frame: types.FrameType) -> ast.While | None:
    """The `while` statement whose test the frame executes."""
    source = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    span = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    return _statements(source).get(span)


def _is_repeated(loop: WhileLoop, frame: types.FrameType, statement: ast.While) -> bool:
    """Whether the frame tests the statement after a pass of this loop's body, not at another execution of the statement.

    The compiler writes a test twice, above the body and below it; `continue` leads to either of them.
    """
    if loop.frame is not frame or loop.statement is not statement:
        return False
    return frame.f_lasti != loop.place.instruction or not any(_breaks(statement.body))


def test(register: DeviceInteger, frame: types.FrameType) -> bool:
    """The truth value of a register in a kernel's statement. Raises KernelError outside of a while statement."""
    core = recording.current("a register")
    place = places.Place(frame.f_code, frame.f_lasti)
    statement = _statement(frame)
    if statement is None:
        raise KernelError(
            "the value of a register is not known while the kernel is traced; only `while register:` may test it",
            place=place,
        )
    loop = core.innermost_loop
    if isinstance(loop, WhileLoop) and _is_repeated(loop, frame, statement):
        core.close_loop()
        loop.frame = None
        return False
    core.open_loop(WhileLoop(register, place, frame=frame, statement=statement))
    return True
