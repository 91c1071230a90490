# SPDX-License-Identifier: Apache-2.0
"""The console of a chip as a socket: `trnvp run --uart socket`."""
import os
import socket
import time
import unittest

from running_platform import WALL_LIMIT, platform

UART = "chip0.management.uart"
READY = "ready: routing id 0"


def connect(running):
    console = socket.socket(socket.AF_UNIX)
    console.settimeout(WALL_LIMIT)
    console.connect(os.path.join(running.folder, UART + ".uart"))
    return console


def read_until(console, text):
    """The console's output up to `text`; an empty read means that the console was closed."""
    seen = ""
    while text not in seen:
        piece = console.recv(4096)
        if not piece:
            raise EOFError(seen)
        seen += piece.decode()
    return seen


class ConsoleTest(unittest.TestCase):
    def test_output_reaches_every_client_and_is_kept_for_late_ones(self):
        with platform("--uart", "socket", "--paused", board="trn3-chip") as running, running.connect() as p:
            with connect(running) as first, connect(running) as second:
                p.run()
                boot = read_until(first, READY)
                self.assertIn("boot ROM", boot)
                self.assertEqual(read_until(second, READY).split(READY)[0], boot.split(READY)[0])
                with connect(running) as late:
                    self.assertEqual(read_until(late, READY).split(READY)[0], boot.split(READY)[0])
            mode = os.stat(os.path.join(running.folder, UART + ".uart")).st_mode & 0o777
            self.assertEqual(mode, 0o600)

    def test_client_input_reaches_the_uart(self):
        with platform("--uart", "socket", board="trn3-chip") as running, running.connect() as p:
            self.assertEqual(p.wait(condition="ready")["reason"], "condition")
            with connect(running) as console:
                read_until(console, READY)
                # The firmware does not read its console: characters stay in the receiver.
                self.assertEqual(self.received(p), "")
                console.sendall(b"ok")
                self.assertEqual(self.wait_for(p, 2), "ok")

    def test_disconnecting_or_stalled_client_does_not_affect_others(self):
        with platform("--uart", "socket", board="trn3-chip") as running, running.connect() as p:
            silent = [connect(running) for _ in range(3)]
            silent[0].close()
            self.assertEqual(p.wait(condition="ready")["reason"], "condition")
            with connect(running) as console:
                read_until(console, READY)
                console.sendall(b"x")
                self.assertEqual(self.wait_for(p, 1), "x")
                # More than the limit: silent clients are dropped, the typing client stays.
                more = [connect(running) for _ in range(8)]
                read_until(more[-1], READY)
                for one in silent[1:]:
                    with self.assertRaises(EOFError):
                        read_until(one, "nothing that is printed")
                console.sendall(b"y")
                self.assertEqual(self.wait_for(p, 1), "y")
                more[-1].sendall(b"z")
                self.assertEqual(self.wait_for(p, 1), "z")
                for one in silent + more:
                    one.close()

    def received(self, p):
        """Reads the receiver's characters, as the management processor would."""
        text = ""
        while p.call("bus_read", space=UART + ".in", address=0x14)["value"] & 1:
            text += chr(p.call("bus_read", space=UART + ".in", address=0)["value"] & 0xFF)
        return text

    def wait_for(self, p, count):
        text, end = "", time.monotonic() + WALL_LIMIT
        while len(text) < count and time.monotonic() < end:
            text += self.received(p)
        return text


if __name__ == "__main__":
    unittest.main(verbosity=2)
