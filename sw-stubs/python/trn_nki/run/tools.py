# SPDX-License-Identifier: Apache-2.0
"""The programs of the build folder."""
from __future__ import annotations

import os
import pathlib

VARIABLE = "TRNVP_BUILD"


def build_folder() -> pathlib.Path:
    """The folder in the variable TRNVP_BUILD, or `build` of the source tree. Raises FileNotFoundError."""
    given = os.environ.get(VARIABLE)
    folder = pathlib.Path(given) if given else pathlib.Path(__file__).resolve().parents[4] / "build"
    if not (folder / "trnctl").exists():
        raise FileNotFoundError(f"{folder} holds no trnctl; build the project, or set {VARIABLE} to its build folder")
    return folder


def tool(name: str) -> str:
    return str(build_folder() / name)
