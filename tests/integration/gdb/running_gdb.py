# SPDX-License-Identifier: Apache-2.0
"""A gdb-multiarch with the management firmware's symbols that carries out a script."""
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
    """In the script {firmware} is the folder of the ELF files and {socket} where the platform listens, and what
    `names` adds. GDB ends with the script; what it printed, errors too, is for communicate()."""
    path = os.path.join(folder, "script.gdb")
    with open(path, "w", encoding="ascii") as f:
        f.write((PREAMBLE + script).format(firmware=os.environ["FIRMWARE"], socket=socket, **names))
    process = subprocess.Popen([os.environ["GDB"], "-nx", "-batch", "-x", path], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
