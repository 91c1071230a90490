# SPDX-License-Identifier: Apache-2.0
"""Functions of Python files, given as FILE.py:FUNCTION."""
from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import sys
import types
from typing import Any, Callable

from trn_nki.diagnostics import places
from trn_nki.diagnostics.errors import KernelError, closest
from trn_nki.trace.exceptions import report_exception

_modules: dict[pathlib.Path, types.ModuleType] = {}


def function_of(text: str, folder: str | os.PathLike[str] = ".") -> Callable[..., Any]:
    """The function; its file is imported once. Raises ValueError, KernelError."""
    name, _, function = text.rpartition(":")
    if not name:
        raise ValueError(f"{text}: expected FILE.py:FUNCTION{_kernels_of(pathlib.Path(folder) / text)}")
    path = (pathlib.Path(folder) / name).resolve()
    if folder == "." and not os.path.isabs(name):
        places.show_as(os.fspath(path.parent), os.path.dirname(name))
    if not path.is_file():
        others = [file.name for file in path.parent.glob("*.py")]
        whole = f"{path.name}.py"
        raise ValueError(f"{name}: no such file{closest(whole if whole in others else path.name, others)}")
    module = _modules.get(path) or _imported(path)
    found = getattr(module, function, None)
    if not callable(found):
        raise ValueError(f"{name} has no function '{function}'{closest(function, vars(module))}")
    return found


def _kernels_of(path: pathlib.Path) -> str:
    """The kernels of a file that was given without one."""
    found = re.findall(r"^@(?:nki\.)?jit\b.*\ndef (\w+)", path.read_text(errors="replace"), re.M) if path.is_file() else []
    return f"; its kernels are {', '.join(found)}" if found else ""


def _imported(path: pathlib.Path) -> types.ModuleType:
    if os.fspath(path.parent) not in sys.path:
        sys.path.append(os.fspath(path.parent))  # last: no module of Python or of a package is hidden
    spec = importlib.util.spec_from_file_location(_module_name(path), path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except KernelError:
        raise
    except SyntaxError as error:
        text = (error.text or "").rstrip()
        column = error.offset or 1
        raise ValueError(
            f"{places.shown(error.filename or '')}:{error.lineno}:{column}: {error.msg}\n    {text}\n    {' ' * (column - 1)}^"
        )
    except Exception as error:
        report_exception(error)
    _modules[path] = module
    return module


def _module_name(path: pathlib.Path) -> str:
    """The file's name, so that other files of its folder import the same module, unless a module has it already."""
    taken = path.stem in sys.modules or path.stem in sys.stdlib_module_names
    return f"{path.stem} of {path.parent}" if taken else path.stem
