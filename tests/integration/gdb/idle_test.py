# SPDX-License-Identifier: Apache-2.0
"""GDB attaches to a hart that sleeps in WFI with all interrupts disabled, and changes its pc."""
import os
import tempfile
import unittest

from running_gdb import gdb
from running_platform import WALL_LIMIT, platform

SCRIPT = """
file {guests}/sleeper.elf
target remote {socket}
bt
print rounds
%s
detach
"""


class IdleTest(unittest.TestCase):
    def debug(self, commands):
        firmware = os.path.join(os.environ["GUESTS"], "sleeper.elf")
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            socket = os.path.join(folder, "gdb.sock")
            with platform("--paused", "--gdb", socket, "--firmware", firmware, board="trn3-chip") as running, running.connect() as p:
                p.run(until="20 ms", wall_limit=WALL_LIMIT)
                with gdb(folder, socket, SCRIPT % commands, guests=os.environ["GUESTS"]) as debugger:
                    output = debugger.communicate(timeout=WALL_LIMIT)[0]
        self.assertIn("#1 ", output)
        self.assertIn("$1 = 0\n", output)
        self.assertIn("[Inferior 1 (process 1) detached]", output)
        return output

    def test_finish_leaves_a_sleeping_function(self):
        output = self.debug("finish\nnext\nprint rounds")
        self.assertIn("$2 = 1\n", output)

    def test_stepi_executes_one_instruction(self):
        output = self.debug("print $pc\nstepi\nstepi\nprint $pc")
        self.assertNotEqual(output.split("$2 = ")[1].split("\n")[0], output.split("$3 = ")[1].split("\n")[0], output)

    def test_function_can_be_called_and_the_pc_set(self):
        output = self.debug("print tripled(7)\nprint tripled(8)\nbreak *tripled\n" "set $pc = tripled\ncontinue\nbt 2\nprint rounds")
        self.assertIn("$2 = 21\n", output)
        self.assertIn("$3 = 24\n", output)
        # The function has returned to main().
        self.assertIn("hit Breakpoint 1, tripled (value=0)", output)

    def test_advance_leaves_a_sleeping_function(self):
        # The first advance ends when the function returns.
        output = self.debug("advance tripled\nadvance tripled\ninfo symbol $pc")
        self.assertIn("tripled in section .text", output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
