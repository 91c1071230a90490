# SPDX-License-Identifier: Apache-2.0
"""The programs of the build folder, or of the installation."""
from __future__ import annotations

import pathlib

from trnvp import programs


def build_folder() -> pathlib.Path:
    """Raises FileNotFoundError."""
    return programs.folder()


def tool(name: str) -> str:
    return str(build_folder() / name)
