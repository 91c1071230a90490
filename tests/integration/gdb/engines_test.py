# SPDX-License-Identifier: Apache-2.0
"""GDB stops at an instruction of a NeuronCore's engine, steps it, reads and writes its registers.
"""
import os
import struct
import tempfile
import unittest

from running_gdb import gdb
from running_platform import WALL_LIMIT, platform

PROGRAM = 0x6000000  # in hbm0
ENGINE = "chip0.nc0.sync"
BLOCK = 0x2804000  # its control block in the core's aperture
INCREMENT_4 = 0x2701810  # increment window of semaphore 4

SCRIPT = """
target extended-remote {socket}
monitor engine_control {engine} command=break pc=1
monitor bus_write space=chip0.nc0.aperture address={start} value=1
continue
monitor engine {engine}
monitor engine_control {engine} command=step
continue
monitor engine_control {engine} command=clear pc=1
monitor bus_write space=chip0.nc0.aperture address={increment} value=16
monitor engine_control {engine} command=step
continue
monitor engine {engine} register=R5 value=1
monitor engine_control {engine} command=step
continue
monitor engine {engine} register=R5 value=9
monitor list what=engines
monitor engine chip0.nc0.synk
monitor help
detach
"""


def word(
    opcode: int, wait: tuple[int, int, int] = (0, 0, 0), update: tuple[int, int, int] = (0, 0, 0), fields: dict[int, bytes] | None = None
) -> bytes:
    """An instruction of 64 bytes: NeuronCore spec 7.1; wait and update are mode, index, value."""
    data = bytearray(struct.pack("<HBBBBBBii", opcode, 0, 1, wait[0], wait[1], update[0], update[1], wait[2], update[2]).ljust(64, b"\0"))
    for at, value in (fields or {}).items():
        data[at : at + len(value)] = value
    return bytes(data)


REG_MOVE, NOP, HALT, GREATER_EQUAL, ADD = 0x1010, 0x1001, 0x1002, 1, 1
WORDS = [
    word(REG_MOVE, fields={16: b"\3", 18: b"\1", 24: struct.pack("<I", 7)}),
    word(NOP, update=(ADD, 8, 1)),
    word(NOP, wait=(GREATER_EQUAL, 4, 16)),
    word(HALT, fields={24: struct.pack("<I", 7)}),
]


class EnginesTest(unittest.TestCase):
    def test_gdb_stops_steps_and_inspects_an_engine(self):
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            socket = os.path.join(folder, "gdb.sock")
            with platform("--gdb", socket, "--uart", "none", board="trn3-chip") as running, running.connect() as p:
                self.assertEqual(p.wait(condition="ready")["reason"], "condition")
                p.poke("chip0.hbm0.in", PROGRAM, b"".join(WORDS))
                for register, value in ((0x8, PROGRAM), (0x10, len(WORDS))):
                    p.call("bus_write", space="chip0.nc0.aperture", address=BLOCK + register, value=value)
                with gdb(folder, socket, SCRIPT, engine=ENGINE, start=hex(BLOCK), increment=hex(INCREMENT_4)) as debugger:
                    output = debugger.communicate(timeout=WALL_LIMIT)[0]
                self.check(output)
                self.assertEqual(p.call("engine", engine=ENGINE)["registers"], {"R3": 7, "R5": 9})

    def check(self, output):
        at = 0
        for wanted in (
            f"{ENGINE} at pc 1: update S[8]+=1 nop",
            '"instruction": "update S[8]+=1 nop"',
            '"pc": 1',
            '"R3": 7',
            '"state": "running"',
            f"{ENGINE} at pc 2: wait S[4]>=16 nop",
            f"{ENGINE} at pc 3: halt code=7",
            "the engine must not run",
            f"{ENGINE} at pc 3: halted",
            '"R5": 9',
            '"state": "halted"',
            "did you mean 'chip0.nc0.sync'",
            "engine_control engine command [pc]",
        ):
            found = output.find(wanted, at)
            self.assertNotEqual(found, -1, f"no '{wanted}' behind {at} in\n{output}")
            at = found


if __name__ == "__main__":
    unittest.main(verbosity=2)
