#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a trace has the CRC-16/CCITT of the data an instruction reads and writes, if
requested: operand_crc.py TRNCTL.

Python's CRC of the tensors is the reference: add.trn reads x twice and writes y."""
import binascii
import pathlib
import re
import subprocess
import sys
import tempfile

START = 0xFFFF


def trace(trnctl, folder, *options):
    text, x, y = folder / "t.txt", folder / "x", folder / "y"
    x.write_bytes(bytes((7 * n + (n >> 8)) & 0x3F for n in range(128 * 512 * 4)))
    command = [trnctl, "--board", "trn3-chip", *options, "--trace", text]
    command += ["program", "run", "scenarios/programs/add.trn", "--in", f"x={x}", "--out", f"y={y}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return text.read_text(encoding="utf-8"), x.read_bytes(), y.read_bytes()


def main(trnctl):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plain, _, _ = trace(trnctl, folder)
        text, x, y = trace(trnctl, folder, "--set", "operand_crc=true")
    found = [tuple(map(int, one)) for one in re.findall(r"vector operands .*pc=(\d+) crc_in=(\d+) crc_out=(\d+)", text)]
    expected = [(0, binascii.crc_hqx(x + x, START), binascii.crc_hqx(y, START))]
    print(f"{found} in the trace, expected {expected}")
    return found != expected or "crc_in" in plain


sys.exit(main(*sys.argv[1:]))
