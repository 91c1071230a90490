#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A board in a script: time, registers, memory, copies, consoles, and the exceptions of wrong calls."""
import os
import pathlib
import signal
import stat
import tempfile
import threading
import time
import unittest
from unittest import mock

import trnvp

REGISTER = "chip0.udma0.M2S_PREFETCH_CFG_3"
DATA = bytes(range(256)) * 64


class BoardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.board = trnvp.start("trn3-chip")
        cls.addClassCleanup(cls.board.close)

    def test_numbers_and_arrays_of_numpy_are_numbers_and_bytes(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        self.board.poke(REGISTER, numpy.uint32(3))
        self.assertEqual(self.board.peek(REGISTER, index=numpy.int64(0)), 3)
        self.board.deposit("chip0.hbm0.in", b"\xff" * 8, 0x3000)
        self.board.poke("chip0.hbm0.in", numpy.int64(7), numpy.uint64(0x3000))
        self.assertEqual(self.board.peek("chip0.hbm0.in", 0x3000, numpy.int16(8)), b"\x07\0\0\0\xff\xff\xff\xff")
        self.board.copy(numpy.arange(6, dtype=numpy.uint8).reshape(2, 3).T, "hbm0@16MiB")
        self.assertEqual(self.board.copy("hbm0@16MiB", "host", numpy.int64(6)).data, bytes([0, 3, 1, 4, 2, 5]))

    def test_what_is_no_bytes_is_refused(self):
        for wrong in (5, [1, 2], pathlib.Path("file"), None, 1.5):
            with self.subTest(value=wrong):
                with self.assertRaisesRegex(TypeError, "not bytes"):
                    self.board.copy(wrong, "hbm0@16MiB")
        for call in (
            lambda: self.board.poke(REGISTER, 3.0),
            lambda: self.board.poke(REGISTER, "3"),
            lambda: self.board.poke("chip0.hbm0.in", "text", 0x1000),
            lambda: trnvp.start(options="--trace boot.trace"),
        ):
            self.assertRaises(TypeError, call)
        self.assertRaises(ValueError, self.board.run, "1 us", console="chip0.management.uart")
        self.assertRaises(ValueError, self.board.run, "1 us", wall_limit=float("nan"))
        self.assertEqual(self.board.run("1 us", wall_limit=float("inf")).reason, "time_limit")

    def test_commands_of_trnctl_that_print_text_are_refused(self):
        with self.assertRaisesRegex(trnvp.CommandError, "completion bash prints text"):
            self.board.trnctl("completion", "bash")
        self.assertEqual(self.board.trnctl("copy", "host", "hbm0@16MiB", "64B", "--core", 1)[0]["bytes"], 64)

    def test_threads_take_turns(self):
        wrong = []

        def peek(address):
            data = bytes([address]) * 16
            self.board.deposit("chip0.hbm0.in", data, 0x4000 + 16 * address)
            wrong.extend(1 for _ in range(50) if self.board.peek("chip0.hbm0.in", 0x4000 + 16 * address, 16) != data)

        threads = [threading.Thread(target=peek, args=(number,), daemon=True) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertEqual(([thread.is_alive() for thread in threads], wrong), ([False] * 4, []))

    def test_time_advances_in_run_only_and_by_what_is_asked(self):
        before = self.board.time_ps
        stop = self.board.run("1 ms")
        self.assertEqual((stop.reason, stop.time_ps - before), ("time_limit", 1_000_000_000))
        time.sleep(0.05)
        self.assertEqual(self.board.time_ps, stop.time_ps)
        self.assertEqual(self.board.run(condition="ready").time_ps, stop.time_ps)
        self.assertEqual(self.board.run(text="boot ROM", wall_limit=5).reason, "condition")

    def test_registers_and_memory(self):
        self.board.poke(REGISTER, 3)
        self.assertEqual(self.board.peek(REGISTER), 3)
        self.assertIn("M2S_PREFETCH_CFG_3", {one["name"] for one in self.board.registers("chip0.udma0")})
        self.board.deposit("chip0.management.resets.RESET_COUNT", 9)
        self.assertEqual(self.board.peek("chip0.management.resets.RESET_COUNT"), 9)
        self.board.poke("chip0.hbm0.in", b"some bytes", 0x1000)
        self.board.deposit("chip0.hbm0.in", 0x0504, 0x1010, width=2)
        self.assertEqual(self.board.peek("chip0.hbm0.in", 0x1000, 10), b"some bytes")
        self.assertEqual(self.board.peek("chip0.hbm0.in", 0x1010, 2), bytes([4, 5]))

    def test_copies_carry_the_bytes_of_the_host_and_back(self):
        before = self.board.statistics("chip0.h2t0")["chip0.h2t0"]["bytes"]
        sent = self.board.copy(DATA, "hbm0@16MiB", verify=True)
        self.assertEqual((sent.size, sent.data), (len(DATA), None))
        self.assertGreater(sent.simulated_s, 0)
        self.board.copy("hbm0@16MiB", "hbm1@1MiB", len(DATA))
        self.assertEqual(self.board.copy("hbm1@1MiB", "host", len(DATA)).data, DATA)
        self.assertEqual(self.board.copy(memoryview(b"abc"), "sbuf0").size, 3)
        self.assertGreaterEqual(self.board.statistics("chip0.h2t0")["chip0.h2t0"]["bytes"] - before, len(DATA))
        self.assertEqual(sorted(file.name for file in self.board.sockets.parent.iterdir()), ["errors", "output", "sockets"])

    def test_snapshots_return_to_a_state_that_runs(self):
        self.board.poke(REGISTER, 5)
        self.board.snapshot("five")
        kept = self.board.time_ps
        self.board.poke(REGISTER, 6)
        self.board.run("1 ms")
        self.board.restore("five")
        self.assertEqual((self.board.time_ps, self.board.peek(REGISTER)), (kept, 5))
        self.assertEqual(self.board.run("1 us").time_ps, kept + 1_000_000)

    def test_names(self):
        self.assertEqual(self.board.consoles(), ["chip0.management.uart"])
        self.assertIn("boot ROM", self.board.console())
        self.assertIn("chip0.hbm0", self.board.modules())
        self.assertEqual(self.board.inject("chip0.hbm0", "hbm_corrected", offset="4 KiB"), ["chip0.hbm0"])
        self.assertEqual(self.board.trnctl("status")[0]["time_ps"], self.board.time_ps)
        self.assertRegex(repr(self.board), "<trnvp.Board trn3-chip, process [0-9]+>")
        self.assertEqual(self.board.control.about["time_policy"], "lockstep")
        self.assertEqual(stat.S_IMODE(os.stat(self.board.sockets.parent).st_mode), 0o700)

    def test_wrong_calls_have_the_sentence_of_the_platform_and_leave_it_usable(self):
        board = self.board
        for wrong, kind, text in (
            (lambda: board.peek("chip0.nothing.REG"), trnvp.ControlError, "chip0.nothing"),
            (lambda: board.peek("no space", 0), trnvp.ControlError, "no space"),
            (lambda: board.poke(REGISTER, 1 << 40), trnvp.ControlError, ""),
            (lambda: board.poke("chip0.management.resets.RESET_COUNT", 1), trnvp.ControlError, "use deposit"),
            (lambda: board.poke("chip0.hbm0.in", b"bytes"), ValueError, "needs an address"),
            (lambda: board.run("1 parsec"), trnvp.ControlError, "must be a time with its unit"),
            (lambda: board.run(), ValueError, "no limit"),
            (lambda: board.console("chip0.nothing"), trnvp.ControlError, "chip0.nothing"),
            (lambda: board.inject("chip0.hbm0", "no_fault"), trnvp.ControlError, "no_fault"),
            (lambda: board.restore("no state"), trnvp.ControlError, "no state"),
            (lambda: board.copy("hbm0", "host"), ValueError, "needs a size"),
            (lambda: board.copy(b"", "hbm0"), ValueError, "0 bytes"),
            (lambda: board.copy(b"abc", "hbm0", 4), ValueError, "3 bytes cannot have the size 4"),
            (lambda: board.copy(b"abc", "nowhere"), trnvp.CommandError, "nowhere"),
            (lambda: board.copy("hbm0@999TiB", "host", 4), trnvp.CommandError, ""),
            (lambda: board.copy(b"abc", "hbm0@16MiB", chip="chip9"), trnvp.CommandError, "chip9"),
            (lambda: board.trnctl("dance"), trnvp.CommandError, "no subcommand 'dance'"),
        ):
            with self.subTest(text=text), self.assertRaises(kind) as refused:
                wrong()
            self.assertIn(text, str(refused.exception))
            if kind is not ValueError:
                self.assertIsInstance(refused.exception, trnvp.Error)
        self.assertEqual(board.copy(b"abc", "hbm0@16MiB").size, 3)

    def test_limit_of_wall_clock_time_and_interrupts_stop_a_long_run(self):
        main = threading.main_thread().ident
        with trnvp.start(ready=False, time_policy="realtime:0.001") as board:
            with self.assertRaisesRegex(trnvp.LimitReached, "0.01 s of wall time have passed; simulated time is "):
                board.run("10 s", wall_limit=0.01)
            threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
            with self.assertRaises(KeyboardInterrupt):
                board.run("10 s")
            before = board.time_ps
            self.assertGreaterEqual(board.run("1 us").time_ps, before + 1_000_000)

    def test_run_without_events_stalls(self):
        with trnvp.start(ready=False) as board, self.assertRaisesRegex(trnvp.Stalled, "no event is pending"):
            board.run(text="never printed")


class StartTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.addCleanup(mock.patch.stopall)
        mock.patch.object(tempfile, "tempdir", str(self.folder)).start()

    def refused(self, kind, *words, **options):
        with self.assertRaises(kind) as refused:
            trnvp.start(*words, **options)
        self.assertIsInstance(refused.exception, trnvp.Error)
        self.assertEqual(list(self.folder.iterdir()), [])
        return str(refused.exception)

    def test_mistakes_are_what_trnvp_says(self):
        self.assertIn("E55 no board 'trn9-chip'", self.refused(trnvp.StartError, "trn9-chip"))
        self.assertIn("has no parameter 'nothing'", self.refused(trnvp.StartError, parameters={"nothing": 3}))
        self.assertIn("no option '--dance'", self.refused(trnvp.StartError, options=["--dance"]))
        self.assertIn("nothing.elf", self.refused(trnvp.StartError, firmware="nothing.elf"))
        self.assertIn("never", self.refused(trnvp.StartError, time_policy="never"))

    def test_firmware_that_does_not_become_ready(self):
        text = self.refused(trnvp.LimitReached, time_policy="realtime:0.00001", wall_limit=2.0)
        self.assertIn("2 s of wall time have passed", text)

    def test_missing_programs(self):
        with mock.patch.dict(os.environ, TRNVP_BUILD="/no/folder"):
            self.assertIn("/no/folder holds no trnctl; build the project", self.refused(trnvp.MissingProgram))
        tools = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))
        (tools / "trnctl").touch()
        with mock.patch.dict(os.environ, TRNVP_BUILD=str(tools)):
            self.assertIn("holds no trnvp", self.refused(trnvp.MissingProgram))
            (tools / "trnvp").touch()
            self.assertIn("trnvp cannot be started: Permission denied", self.refused(trnvp.MissingProgram))
            (tools / "trnvp").write_text("#!/bin/sh\nexec sleep 100\n")
            (tools / "trnvp").chmod(0o755)
            self.assertIn("did not serve its sockets within 0.2 s", self.refused(trnvp.StartError, wall_limit=0.2))
        for file in tools.iterdir():
            file.unlink()
        tools.rmdir()

    def test_long_folder_of_temporary_files(self):
        with mock.patch.object(tempfile, "tempdir", str(self.folder / ("long" * 30))):
            os.mkdir(tempfile.tempdir)
            with trnvp.start(ready=False) as board:
                self.assertEqual(board.sockets.parent.parent, pathlib.Path("/tmp"))

    def test_parameters_and_options_reach_the_platform(self):
        with trnvp.start(parameters={"server_id": 3}, seed=7, timing="functional", time_policy="free") as board:
            values = {one["name"]: one["text"] for one in board.control.parameters()}
            self.assertEqual(values["server_id"], "3")
            self.assertEqual(board.control.about["time_policy"], "free")

    def test_two_boards_do_the_same(self):
        def ends():
            with trnvp.start("trn2-chip", seed=1) as board:
                board.copy(DATA, "hbm0@16MiB")
                board.run("100 us")
                return board.time_ps, board.statistics()

        self.assertEqual(ends(), ends())


if __name__ == "__main__":
    unittest.main()
