#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A machine inside of Python: time, registers, memory, a host's accesses, callbacks, copies, wrong calls, and the trace of `trnvp run`."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import trnvp

REGISTER = "chip0.udma0.M2S_PREFETCH_CFG_3"
HBM = "chip0.hbm0.in"
TREE = pathlib.Path(__file__).resolve().parents[3]
MS = 10**9


def in_another_process(script):
    """What a script prints, which must end with status 0."""
    return subprocess.run([sys.executable, "-c", "import trnvp\n" + script], capture_output=True, text=True, check=True)


class MachineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machine = trnvp.Machine(TREE / "doc/examples/library/board.yaml")
        cls.addClassCleanup(cls.machine.close)

    def test_time_advances_by_what_is_asked(self):
        before = self.machine.time_ps
        self.assertEqual(self.machine.run("1 ms")[::2], ("time_limit", before + MS))
        self.assertEqual(self.machine.run(until=f"{before + 2 * MS} ps").time_ps, before + 2 * MS)
        self.assertEqual(self.machine.run(condition="ready").reason, "condition")
        self.assertEqual(self.machine.run(text="boot ROM", wall_limit=5).reason, "condition")
        self.assertRaises(ValueError, self.machine.run)
        self.assertRaises(trnvp.ControlError, self.machine.run, "1 parsec")
        self.assertRaises(trnvp.LimitReached, self.machine.run, "1 s", wall_limit=0.0)

    def test_conditions_are_functions(self):
        start = self.machine.time_ps
        before = self.machine.call("console", module="line")["printed"]
        self.machine.poke("line.DATA", ord("x"))
        stop = self.machine.run_until_true(lambda: self.machine.call("console", module="line")["printed"] > before, limit_ps=start + 9 * MS)
        self.assertEqual(stop.reason, "condition")
        self.assertEqual(self.machine.run_until_true(lambda: False, limit_ps=start + 9 * MS).reason, "time_limit")
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            self.machine.run_until_true(lambda: 1 // 0)
        with self.assertRaises(trnvp.Unavailable):
            self.machine.run_until_true(lambda: self.machine.run("1 us"))
        self.assertRaises(trnvp.InvalidArgument, self.machine.run_until_true, lambda: True, limit_ps=-1)

    def test_registers_and_memory(self):
        self.machine.poke(REGISTER, 3)
        self.assertEqual(self.machine.peek(REGISTER), 3)
        self.machine.poke(HBM, b"some bytes", 0x1000)
        self.assertEqual(self.machine.peek(HBM, 0x1000, 10), b"some bytes")
        view = self.machine.map(HBM, 0x1000, 10)
        self.assertEqual(bytes(view), b"some bytes")
        self.assertTrue(view.readonly)
        self.machine.map("chip0.management.sram", 0x40, 2, writable=True)[:] = b"ab"
        self.assertEqual(self.machine.peek("chip0.management.sram", 0x40, 2), b"ab")
        self.assertRaises(trnvp.ControlError, self.machine.map, HBM, 0x1000, 10, writable=True)
        self.assertRaises(trnvp.ControlError, self.machine.map, "nowhere", 0, 4)
        self.assertRaises(trnvp.InvalidArgument, self.machine.map, HBM, -1, 4)
        with self.assertRaises(trnvp.ControlError) as refused:
            self.machine.peek("chip0.udma0.NOTHING")
        self.assertEqual(refused.exception.code, -32001)
        self.assertIn("bytes", self.machine.statistics("chip0.h2t0")["chip0.h2t0"])
        self.assertIn("chip0.hbm0", self.machine.modules())
        self.assertFalse(self.machine.call("misuse")["failed"])
        self.assertRaises(trnvp.ControlError, self.machine.call, "quit")

    def test_a_host_accesses_its_device(self):
        chip = self.machine.function()
        self.assertEqual(chip.name, "chip0")
        self.assertEqual(chip.config_read(0, 2), 0x1D0F)
        self.assertGreater(chip.bar_size(0), 0)
        chip.config_write(4, 6, 2)  # memory space and bus master, as a driver does
        before = self.machine.time_ps
        self.assertEqual(len(chip.read(4, 0x2000, 64)), 64)
        self.assertGreater(self.machine.time_ps, before)
        chip.write(4, 0x2001, b"unaligned")
        self.assertEqual(self.machine.peek(HBM, 0x2001, 9), b"unaligned")
        memory = chip.alloc(5000)
        memory.data[:3] = b"abc"
        self.assertEqual((len(memory.data), memory.iova % 4096), (5000, 0))
        chip.free(memory)
        for wrong in (lambda: chip.read(7, 0, 4), lambda: chip.read(0, -4, 4), lambda: chip.read(0, 0, 1 << 40), lambda: chip.alloc(0)):
            self.assertRaises(trnvp.InvalidArgument, wrong)
        self.assertRaises(trnvp.InvalidArgument, chip.config_read, 2, 4)
        self.assertRaises(trnvp.Error, chip.alloc, 1 << 60)
        self.assertRaises(trnvp.ControlError, self.machine.function, "chip9")

    def test_interrupts_and_consoles_call_back(self):
        raised, printed = [], []
        chip = self.machine.function("chip0")
        chip.on_interrupt(0, raised.append)
        self.machine.on_console(lambda name, text: printed.append((name, text)))
        self.machine.poke("line.IER.TX_EMPTY", 1)
        self.machine.poke("line.DATA", ord("x"))
        self.machine.run("1 ms")
        self.assertEqual(raised[0], 0)
        self.assertIn(("line", b"x"), printed)
        self.machine.on_console(lambda name, text: {}[name])
        with self.assertRaises(KeyError):
            self.machine.poke("line.DATA", ord("y"))
            self.machine.run("1 ms")
        self.machine.on_console(None)
        chip.on_interrupt(0, None)
        self.machine.poke("line.IER.TX_EMPTY", 0)
        self.machine.run("1 ms")
        self.assertRaises(trnvp.InvalidArgument, chip.on_interrupt, 5000, None)

    def test_copies_start_from_one_state(self):
        self.machine.poke(HBM, b"....", 0x9000)
        start = self.machine.time_ps

        def variant(word):
            self.machine.poke(HBM, word, 0x9000)
            self.machine.run("1 ms")
            return self.machine.peek(HBM, 0x9000, 4), self.machine.time_ps

        for word in (b"abcd", b"efgh"):
            self.assertEqual(self.machine.in_copy(variant, word), (word, start + MS))
        self.assertEqual(self.machine.peek(HBM, 0x9000, 4), b"....")
        self.assertEqual(self.machine.time_ps, start)
        with self.assertRaisesRegex(ValueError, "of the copy"):
            self.machine.in_copy(self._fail)
        self.assertRaises(trnvp.Ended, self.machine.in_copy, lambda: os.kill(os.getpid(), signal.SIGKILL))
        self.assertRaises(trnvp.LimitReached, self.machine.in_copy, lambda: signal.pause(), wall_limit=0.2)
        self.assertRaises(trnvp.Error, self.machine.in_copy, lambda: lambda: 3)

    @staticmethod
    def _fail():
        raise ValueError("of the copy")

    def test_a_second_machine_and_other_threads_are_refused(self):
        with self.assertRaisesRegex(trnvp.Unavailable, "SystemC elaborates once"):
            trnvp.Machine("trn2-chip")
        caught = []

        def call():
            try:
                self.machine.run("1 us")
            except trnvp.Unavailable as error:
                caught.append(str(error))

        other = threading.Thread(target=call)
        other.start()
        other.join()
        self.assertEqual(caught, ["a machine belongs to the thread that made it"])

    def test_ctrl_c_ends_a_run(self):
        with self.assertRaises(KeyboardInterrupt):
            self.machine.run_until_true(lambda: os.kill(os.getpid(), signal.SIGINT))
        self.machine.run("1 us")


class ProcessTest(unittest.TestCase):
    def test_mistakes_are_sentences_with_their_place(self):
        for call, words in (
            ("'trn9'", "trn3-chip"),
            ("'trn3-chip', parameters={'revison': 3}", "revision"),
            ("'trn3-chip', options=['--sed', '3']", "--seed"),
        ):
            said = in_another_process(f"try: trnvp.Machine({call})\nexcept trnvp.StartError as error: print(error)")
            self.assertIn(words, said.stdout)

    def test_nothing_is_printed_unasked(self):
        said = in_another_process("trnvp.Machine('trn3-chip').run('1 ms')")
        self.assertEqual(said.stdout, "")

    def test_a_closed_machine_says_so(self):
        said = in_another_process(
            """
machine = trnvp.Machine("trn3-chip", ready=False)
chip = machine.function()
machine.close()
machine.close()
for call in (lambda: machine.run("1 us"), lambda: chip.read32(0, 0), lambda: machine.time_ps):
    try: call()
    except trnvp.Ended as error: print(error)
try: trnvp.Machine("trn3-chip")
except trnvp.Unavailable as error: print(error)
print(machine)"""
        )
        lines = said.stdout.splitlines()
        self.assertEqual(lines[:3], ["the machine is closed"] * 3)
        self.assertIn("which was destroyed", lines[3])
        self.assertEqual(lines[4], "<trnvp.Machine trn3-chip, closed>")

    def test_log_lines_call_back(self):
        said = in_another_process(
            """
trnvp.on_log(lambda severity, line: print(severity, line))
machine = trnvp.Machine("trn3-chip")
machine.function().write(0, 1, bytes(2))"""
        )
        self.assertRegex(said.stdout, "warning .*chip0")
        self.assertEqual(said.stderr, "")

    def test_the_trace_is_that_of_trnvp_run(self):
        with tempfile.TemporaryDirectory() as folder:
            program, library = (str(pathlib.Path(folder) / name) for name in ("program", "library"))
            command = [trnvp.programs.path("trnvp"), "run", "trn3-chip", "--max-time", "5 ms", "--uart", "none", "--trace", program]
            subprocess.run(command, check=True, capture_output=True)
            in_another_process(
                f"""
with trnvp.Machine("trn3-chip", options=["--trace", {library!r}], ready=False) as machine:
    for _ in range(50):
        machine.run("100 us")
    try: machine.in_copy(print)
    except trnvp.ControlError as error: assert "--trace" in str(error)"""
            )
            self.assertEqual(pathlib.Path(library).read_bytes(), pathlib.Path(program).read_bytes())
            self.assertGreater(pathlib.Path(library).stat().st_size, 100)


if __name__ == "__main__":
    unittest.main()
