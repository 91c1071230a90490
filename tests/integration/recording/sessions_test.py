# SPDX-License-Identifier: Apache-2.0
"""Sessions of every kind of client: the replay of a recorded session has the same trace and no difference."""
from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable

import trnvp_control
from running_platform import BOARD, WALL_LIMIT, Running, platform

CONFIG = 7  # number of the region that is the configuration space
VERSION, REGION_READ, REGION_WRITE, DEVICE_RESET = 1, 9, 10, 13


class Host:
    """A vfio-user client of one function, without memory of its own."""

    def __init__(self, path: str):
        self.link = socket.socket(socket.AF_UNIX)
        self.link.settimeout(WALL_LIMIT)
        self.link.connect(path)
        self.call(VERSION, struct.pack("<HH", 0, 1) + b"{}\0")

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.link.close()

    def call(self, command: int, payload: bytes) -> bytes:
        self.link.sendall(struct.pack("<HHIII", 1, command, 16 + len(payload), 0, 0) + payload)
        head = self.receive(16)
        return self.receive(struct.unpack_from("<I", head, 4)[0] - 16)

    def receive(self, size: int) -> bytes:
        text = b""
        while len(text) < size:
            piece = self.link.recv(size - len(text))
            if not piece:
                raise RuntimeError("the platform closed the connection")
            text += piece
        return text

    def read(self, region: int, offset: int, size: int = 4) -> bytes:
        return self.call(REGION_READ, struct.pack("<QII", offset, region, size))[16:]

    def write(self, region: int, offset: int, data: bytes) -> None:
        self.call(REGION_WRITE, struct.pack("<QII", offset, region, len(data)) + data)


class Debugger:
    """A client of the GDB remote serial protocol."""

    def __init__(self, path: str):
        self.link = socket.socket(socket.AF_UNIX)
        self.link.settimeout(WALL_LIMIT)
        end = time.monotonic() + WALL_LIMIT
        while self.link.connect_ex(path) != 0:
            if time.monotonic() > end:
                raise RuntimeError(f"no process listens on {path}")
            time.sleep(0.01)

    def __enter__(self) -> Debugger:
        return self

    def __exit__(self, *_: object) -> None:
        self.link.close()

    def call(self, packet: str) -> str:
        self.link.sendall(f"${packet}#{sum(packet.encode()) & 0xff:02x}".encode())
        text = b""
        while not (end := text.partition(b"$")[2].partition(b"#"))[1] or len(end[2]) < 2:
            text += self.link.recv(4096)
        with contextlib.suppress(BrokenPipeError):  # the replay may end at once after a D
            self.link.sendall(b"+")
        return end[0].decode()


class SessionsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="trnvp_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.recording = os.path.join(self.folder, "recording")

    def record(self, session: Callable[[Running], None], *options: str, board: str = "trn3-chip") -> None:
        with platform("--record", self.recording, "--trace", os.path.join(self.folder, "trace"), *options, board=board) as running:
            session(running)
            running.process.terminate()
            self.assertEqual(running.wait(), 0)

    def replay(self, *options: str) -> dict:
        done = subprocess.run(
            [os.environ["TRNVP"], "replay", "--json", self.recording, *options], stdout=subprocess.PIPE, timeout=WALL_LIMIT, check=False
        )
        result = json.loads(done.stdout)
        result["status"] = done.returncode
        return result

    def assert_replays(self, *options: str) -> dict:
        again = os.path.join(self.folder, "again")
        result = self.replay("--trace", again, *options)
        self.assertEqual((result["differences"], result["first"], result["status"]), (0, [], 0))
        with open(os.path.join(self.folder, "trace"), "rb") as was, open(again, "rb") as now:
            self.assertEqual(was.read(), now.read())
        return result

    def test_policies_of_misuse_rules_are_those_of_the_run(self) -> None:
        def session(running: Running) -> None:
            with running.connect() as p:
                p.pause()
                self.assertRaises(trnvp_control.ControlError, p.bus_read, space="chip0.management.uart.in", address=0xFF0)
                p.misuse(policy="count:TRN-DMA-003")

        self.record(session, "--misuse", "count", "--misuse", "log:TRN-DMA-004,TRN-DMA-005")
        self.assert_replays()

    def test_ways_to_execute_and_to_time_are_those_of_the_run(self) -> None:
        def session(running: Running) -> None:
            with running.connect() as p:
                p.wait(condition="ready")
                p.poke("chip0.hbm0.in", 0x1000, b"data")
                p.wait(**{"for": "20 us"})

        for options in (
            ("--hart", "interpret"),
            ("--hart", "check"),
            ("--timing", "functional"),
            ("--seed", "77"),
            ("--time-policy", "lockstep"),
            ("--time-policy", "realtime:10"),
        ):
            with self.subTest(options):
                self.recording = os.path.join(self.folder, "-".join(options).replace(":", ""))
                self.record(session, *options)
                self.assert_replays()

    def test_pokes_ring_and_deposits_are_silent_in_the_replay_too(self) -> None:
        def session(running: Running) -> None:
            with running.connect() as p:
                p.wait(condition="ready")
                p.deposit(register="chip0.management.resets.RESET_COUNT", value=9)
                p.poke(register="chip0.management.uart.DATA", value=0x40)
                p.poke("chip0.management.cpu", 0x1000_0000, value=0x41)
                p.inject("chip0.hbm*", "hbm_corrected", offset="1 MiB")
                p.wait(**{"for": "20 us"})
                self.assertIn("@A", p.console(module="chip0.management.uart")["text"])

        self.record(session)
        self.assert_replays()

    def test_outputs_of_the_run_do_not_matter(self) -> None:
        def session(running: Running) -> None:
            with running.connect() as p:
                p.wait(condition="ready")
                p.wait(**{"for": "20 us"})

        self.record(
            session,
            "--vcd",
            os.path.join(self.folder, "vcd"),
            "--vcd-signal",
            "chip0.management.uart.irq",
            "--coverage",
            os.path.join(self.folder, "coverage.json"),
            "--fidelity-report",
            os.path.join(self.folder, "report.md"),
        )
        self.assert_replays()

    def test_breakpoints_of_engines_do_not_stop_the_replay(self) -> None:
        engine, block, program = "chip0.nc0.sync", 0x2804000, 0x6000000
        nop, halt = (struct.pack("<HBB", code, 0, 1).ljust(64, b"\0") for code in (0x1001, 0x1002))

        def session(running: Running) -> None:
            with running.connect() as p:
                p.wait(condition="ready")
                p.pause()
                p.poke("chip0.hbm0.in", program, nop * 3 + halt)
                for register, value in ((8, program), (0x10, 4)):
                    p.bus_write(space="chip0.nc0.aperture", address=block + register, value=value)
                p.engine_control(engine=engine, command="break", pc=1)
                p.bus_write(space="chip0.nc0.aperture", address=block, value=1)
                for pc in (1, 2):
                    p.run(wall_limit=WALL_LIMIT)
                    self.assertEqual(p.engine(engine=engine)["pc"], pc)
                    p.engine_control(engine=engine, command="step" if pc == 1 else "clear", pc=1)
                p.run(**{"for": "10 us"})
                self.assertEqual(p.engine(engine=engine)["state"], "halted")

        self.record(session)
        self.assert_replays()

    def test_control_calls_of_any_length_are_repeated(self) -> None:
        def session(running: Running) -> None:
            with running.connect() as p:
                p.wait(condition="ready")
                p.poke("chip0.hbm0.in", 0x100000, bytes(range(256)) * 4096)
                p.poke("chip0.hbm0.in", 0x200000, b"\1" * 70_000)
                for module in ("chip0.udma0", "chip0.management.misc_ram", "chip0.nc0"):
                    p.registers(module=module)
                # Short in the message, long as JSON writes it again.
                p._send(b'{"jsonrpc":"2.0","id":"long","method":"misuse","params":{"policy":[' + b"1e14," * 800_000 + b"0]}}\n")
                refused = p._receive(time.monotonic() + WALL_LIMIT)["error"]["message"]
                self.assertIn("has parameters of at most 4194304 bytes", refused)
                p.poke("chip0.hbm0.in", 0x300000, b"after")
                self.assertEqual(p.peek("chip0.hbm0.in", 0x300000, 5), b"after")

        self.record(session)
        self.assert_replays()

    def test_hosts_that_connect_and_leave_beside_a_paused_platform(self) -> None:
        def session(running: Running) -> None:
            sockets = [os.path.join(running.folder, f"chip{n}.sock") for n in (0, 1)]
            with running.connect() as p:
                p.wait(condition="ready")
                for path in sockets:
                    Host(path).link.close()
                p.pause()
                with Host(sockets[0]) as first, Host(sockets[1]) as second:
                    for host in (first, second):
                        host.write(CONFIG, 4, struct.pack("<H", 6))
                        self.assertEqual(host.read(CONFIG, 0)[:2], b"\x0f\x1d")
                        host.write(4, 0x1000000, b"from a host")
                    p.step()
                    self.assertEqual(first.read(4, 0x1000000, 11), b"from a host")
                    first.call(DEVICE_RESET, b"")
                    first.write(CONFIG, 4, struct.pack("<H", 6))
                    p.run()
                    p.wait(**{"for": "5 us"})
                    second.write(4, 0x1000000, b"a second write")
                    p.pause()
                while p.status()["attached"] > 1:
                    time.sleep(0.01)
                with Host(sockets[0]) as third:
                    third.write(CONFIG, 4, struct.pack("<H", 6))
                    third.read(4, 0x1000000, 11)
                    p.run()
                    p.wait(**{"for": "5 us"})

        self.record(session, "--set", "devices=2")
        self.assertGreater(self.assert_replays()["repeated"], 30)

    def test_debugger_stops_and_steps_a_replay(self) -> None:
        def session(running: Running) -> None:
            with running.connect() as p:
                p.wait(condition="ready")
                p.poke("chip0.hbm0.in", 0x1000, b"data")
                p.wait(**{"for": "20 us"})

        self.record(session)
        path = os.path.join(self.folder, "gdb.sock")
        stops = []
        for _ in range(2):
            with subprocess.Popen(
                [os.environ["TRNVP"], "replay", "--json", self.recording, "--gdb", path], stdout=subprocess.PIPE
            ) as process:
                try:
                    with Debugger(path) as gdb:
                        self.assertEqual(gdb.call("?")[0], "T")
                        for _ in range(200):
                            self.assertEqual(gdb.call("s")[0], "T")
                        stops.append(gdb.call("g"))
                        self.assertEqual(gdb.call("D"), "OK")
                    result = json.loads(process.communicate(timeout=WALL_LIMIT)[0])
                finally:
                    process.kill()
            self.assertEqual((result["differences"], result["first"], process.returncode), (0, [], 0))
            self.assertGreater(result["time_ps"], 20 * 10**6)
        self.assertEqual(stops[0], stops[1])

    def test_clients_of_consoles(self) -> None:
        uart = "mgmt.uart"

        def session(running: Running) -> None:
            with running.connect() as p, socket.socket(socket.AF_UNIX) as one, socket.socket(socket.AF_UNIX) as other:
                for client in (one, other):
                    client.settimeout(WALL_LIMIT)
                    client.connect(os.path.join(running.folder, uart + ".uart"))
                p.wait(condition="ready")
                one.sendall(b"he")
                other.sendall(b"lp\r" + b"x" * 5000)
                p.wait(**{"for": "100 us"})
                p.type(module=uart, text="\x03 \u20ac\r")
                other.close()
                p.pause()
                one.sendall(b"\r")
                time.sleep(0.05)
                p.run()
                p.wait(**{"for": "1 ms"})

        self.record(session, "--uart", "socket", board=BOARD)
        self.assert_replays()


if __name__ == "__main__":
    unittest.main(verbosity=2)
