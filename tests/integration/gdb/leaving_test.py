# SPDX-License-Identifier: Apache-2.0
"""A debugger that leaves in any state of a hart leaves a platform that runs: no hart is halted, and
nothing halts or pauses later."""
import os
import socket
import subprocess
import tempfile
import time
import unittest

from running_platform import WALL_LIMIT, platform

CTRL_C = b"\x03"


class Debugger:
    """A client of the GDB protocol."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(WALL_LIMIT)
        self.socket.connect(path)
        self.input = b""
        self.ask("qSupported:multiprocess+;swbreak+;hwbreak+")

    def send(self, body):
        data = body.encode()
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))

    def ask(self, body):
        """The next packet of the platform after `body`; None: it has closed the connection."""
        self.send(body)
        return self.packet()

    def packet(self):
        while True:
            begin, end = self.input.find(b"$"), self.input.find(b"#")
            if 0 <= begin < end and len(self.input) >= end + 3:
                body, self.input = self.input[begin + 1 : end].decode(), self.input[end + 3 :]
                return body
            received = self.socket.recv(65536)
            if not received:
                return None
            self.input += received

    def interrupt(self):
        self.socket.sendall(CTRL_C)
        return self.packet()

    def leave(self):
        self.socket.close()


def running(debugger):
    debugger.send("vCont;c")


def in_the_middle_of_a_step(debugger):
    debugger.send("vCont;s:p1.1")


def stepping_beside_the_others(debugger):
    debugger.send("vCont;s:p1.1;c")


def stepping_in_reset(debugger):
    debugger.send("vCont;s:p1.2")


def stepping_in_reset_beside_the_others(debugger):
    debugger.send("vCont;s:p1.2;c")


def stepped(debugger):
    assert debugger.ask("vCont;s:p1.1").startswith("T05")


def at_a_breakpoint(debugger):
    pc = int.from_bytes(bytes.fromhex(debugger.ask("p20")), "little")
    debugger.ask("vCont;s:p1.1")
    then = int.from_bytes(bytes.fromhex(debugger.ask("p20")), "little")
    for address in (pc, then):
        assert debugger.ask(f"Z0,{address:x},4") == "OK"
        assert debugger.ask(f"Z1,{address:x},4") == "OK"
    assert debugger.ask("Z4,40000000,1000") == "OK"
    debugger.send("vCont;c")


STATES = (
    running,
    in_the_middle_of_a_step,
    stepping_beside_the_others,
    stepping_in_reset,
    stepping_in_reset_beside_the_others,
    stepped,
    at_a_breakpoint,
)


def close(debugger):
    debugger.leave()


def interrupt_and_close(debugger):
    debugger.socket.sendall(CTRL_C)
    debugger.leave()


def interrupt_and_detach(debugger):
    debugger.socket.sendall(CTRL_C)
    # Stops and the answer of Ctrl-C may come first; the platform ignores packets while it runs.
    while debugger.ask("D") != "OK":
        pass
    debugger.leave()


def interrupt_and_detach_each(debugger):
    debugger.socket.sendall(CTRL_C)
    while debugger.ask("D;1") != "OK":
        pass
    debugger.leave()


WAYS = (close, interrupt_and_close, interrupt_and_detach, interrupt_and_detach_each)


class LeavingTest(unittest.TestCase):
    def test_harts_run_after_each_way_of_leaving_in_each_state(self):
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            path = os.path.join(folder, "gdb.sock")
            with platform("--gdb", path, "--uart", "none", board="trn3-chip") as run, run.connect() as p:
                p.wait(condition="ready")
                before = [(one["name"], one["state"]) for one in p.list("harts")]
                for state in STATES:
                    for way in WAYS:
                        with self.subTest(state=state.__name__, way=way.__name__):
                            debugger = Debugger(path)
                            state(debugger)
                            way(debugger)
                            self.check_that_it_runs(p, before)

    def check_that_it_runs(self, p, before):
        end = time.monotonic() + WALL_LIMIT
        while p.status()["paused"]:  # until the platform has noticed that the debugger has left
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        reason = p.wait(**{"for": "20 ms", "wall_limit": WALL_LIMIT})
        self.assertEqual(reason["reason"], "time_limit")
        self.assertFalse(p.status()["paused"], p.status())
        harts = p.list("harts")
        self.assertEqual([one["name"] for one in harts if one["halted"]], [])
        self.assertEqual([(one["name"], one["state"]) for one in harts], before)

    def test_second_client_is_refused_while_the_first_one_steps(self):
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            path = os.path.join(folder, "gdb.sock")
            with platform("--gdb", path, "--uart", "none", board="trn3-chip") as run, run.connect() as p:
                p.wait(condition="ready")
                first = Debugger(path)
                first.send("vCont;s:p1.2")  # in reset: lasts until Ctrl-C
                second = socket.socket(socket.AF_UNIX)
                second.settimeout(WALL_LIMIT)
                second.connect(path)
                try:
                    second.sendall(b"$?#3f")
                    self.assertEqual(second.recv(100), b"")
                except (BrokenPipeError, ConnectionResetError):
                    pass
                second.close()
                self.assertTrue(first.interrupt().startswith("T02"))
                first.leave()
                third = Debugger(path)
                self.assertTrue(third.ask("?").startswith("T05"))
                self.assertEqual(third.ask("D"), "OK")
                third.leave()

    def test_program_of_exec_continues_after_a_debugger_left_during_a_step(self):
        with tempfile.TemporaryDirectory(prefix="trnvp_gdb_") as folder:
            path = os.path.join(folder, "gdb.sock")
            program = os.path.join(os.environ["GUESTS"], "watched.elf")
            run = subprocess.Popen([os.environ["TRNVP"], "exec", program, "--gdb", path], stderr=subprocess.PIPE, text=True)
            try:
                run.stderr.readline()
                debugger = Debugger(path)
                debugger.send("vCont;s:p1.1")
                debugger.leave()
                said = run.communicate(timeout=WALL_LIMIT)[1]
                self.assertIn("it waits for an interrupt", said)  # its WFI, which a step would complete
            finally:
                run.kill()
                run.communicate()


if __name__ == "__main__":
    unittest.main(verbosity=2)
