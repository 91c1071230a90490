# SPDX-License-Identifier: Apache-2.0
"""Where the programs are."""
from __future__ import annotations

import os
import pathlib
import shutil

from trnvp.errors import MissingProgram

VARIABLE = "TRNVP_BUILD"


def folder() -> pathlib.Path:
    """The folder of trnvp and trnctl: that in the variable TRNVP_BUILD; `build` of this source tree; `bin` of the prefix in
    which this file is installed; or that of trnctl in PATH. Raises MissingProgram."""
    given = os.environ.get(VARIABLE)
    if given:
        if not (pathlib.Path(given) / "trnctl").exists():
            raise MissingProgram(f"{given} holds no trnctl; build the project, or set {VARIABLE} to its build folder")
        return pathlib.Path(given)
    above = pathlib.Path(__file__).resolve().parents
    for place in (above[3] / "build", above[4] / "bin"):
        if (place / "trnctl").exists():
            return place
    found = shutil.which("trnctl")
    if found is None:
        raise MissingProgram(
            f"no trnctl in {above[3] / 'build'}, {above[4] / 'bin'} and PATH; build or install the project, or set {VARIABLE} to its build folder"
        )
    return pathlib.Path(found).resolve().parent


def path(name: str) -> str:
    """A program's file. Raises MissingProgram."""
    file = folder() / name
    if not file.exists():
        raise MissingProgram(f"{file.parent} holds no {name}; build the project, or set {VARIABLE} to its build folder")
    return str(file)
