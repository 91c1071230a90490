# SPDX-License-Identifier: Apache-2.0
"""Runs gdb-multiarch with the management firmware's symbols and a script."""
from __future__ import annotations

import contextlib
import os
import subprocess
from typing import Iterator

PREAMBLE = """
set pagination off
set confirm off
file {firmware}/mgmt.elf
"""


@contextlib.contextmanager
def gdb(folder: str, socket: str, script: str, **names: str) -> Iterator[subprocess.Popen[str]]:
    """Replaces in the script {firmware} by the folder of the ELF files, {socket} by the platform's
    socket, and each of `names` by its value. GDB ends after the script; communicate() returns its
    output including errors."""
    path = os.path.join(folder, "script.gdb")
    with open(path, "w", encoding="ascii") as f:
        f.write((PREAMBLE + script).format(firmware=os.environ["FIRMWARE"], socket=socket, **names))
    process = subprocess.Popen(
        [os.environ["GDB"], "-nx", "-batch", "-x", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
