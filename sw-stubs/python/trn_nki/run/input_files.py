# SPDX-License-Identifier: Apache-2.0
"""The files that a user's kernels and functions read: the modules that they import, and the files that they open."""
from __future__ import annotations

import os
import pathlib
import site
import stat
import sys
import sysconfig
from typing import Any

MAX_FILES = 4096

_SYSTEM = ("/dev", "/proc", "/sys")
_INSTALLED = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *site.getsitepackages(),
    site.getusersitepackages(),
    os.fspath(pathlib.Path(__file__).parents[2]),
)


class InputFiles:
    """Notes regular files from now on, except those of Python, its packages and `trn_nki`, and those in the folders `own`."""

    def __init__(self, *own: str | os.PathLike[str]):
        self._excluded = tuple(_real(folder) + os.sep for folder in (*_SYSTEM, *_INSTALLED, *own))
        self._files: dict[str, None] = {}
        self._modules: set[str] = set(sys.modules)
        sys.addaudithook(self._noted)

    def files(self) -> list[str]:
        """Absolute paths. Raises ValueError for too many."""
        for name, module in list(sys.modules.items()):
            if name not in self._modules:
                self._modules.add(name)
                self._add(getattr(module, "__file__", None))
        if len(self._files) > MAX_FILES:
            raise ValueError(f"the kernel and its functions read more than {MAX_FILES} files")
        return list(self._files)

    def check_output(self, file: str | os.PathLike[str]) -> None:
        """Raises ValueError if a file that will be written is an input."""
        if _real(file) in self.files():
            raise ValueError(f"cannot write {os.fspath(file)}: this command reads it")

    def _noted(self, event: str, details: tuple[Any, ...]) -> None:
        if event == "open" and (details[2] or 0) & os.O_ACCMODE != os.O_WRONLY:
            self._add(details[0])

    def _add(self, name: object) -> None:
        if not isinstance(name, (str, bytes, os.PathLike)) or len(self._files) > MAX_FILES:
            return
        try:
            path = _real(os.fsdecode(name))
            if path.startswith(self._excluded) or path.endswith(".pyc") or not stat.S_ISREG(os.stat(path).st_mode):
                return
        except (OSError, ValueError):  # the file is created now, or this is no name of a file
            return
        self._files.setdefault(path)


def _real(name: str | os.PathLike[str]) -> str:
    return os.path.realpath(os.fspath(name))
