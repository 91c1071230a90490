# SPDX-License-Identifier: Apache-2.0
"""Concurrent clients: one per PCIe function, several on the control socket."""
import os
import socket
import struct
import subprocess
import time
import unittest

import trnvp_control
from running_platform import WALL_LIMIT, platform

VERSION, DEVICE_GET_INFO, EBUSY = 1, 4, 16


class VfioUser:
    """A minimal vfio-user client that stays connected (doc/attach.md)."""

    def __init__(self, path):
        self.link = socket.socket(socket.AF_UNIX)
        self.link.settimeout(WALL_LIMIT)
        self.link.connect(path)

    def request(self, command, payload):
        """The errno and the payload of the reply."""
        self.link.sendall(struct.pack("<HHIII", 7, command, 16 + len(payload), 0, 0) + payload)
        number, _, size, _, error = struct.unpack("<HHIII", self.receive(16))
        assert number == 7
        return error, self.receive(size - 16)

    def receive(self, size):
        data = b""
        while len(data) < size:
            piece = self.link.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def hello(self):
        return self.request(VERSION, struct.pack("<HH", 0, 1) + b"{}\0")

    def is_served(self):
        return self.request(DEVICE_GET_INFO, struct.pack("<IIII", 16, 0, 0, 0))[0] == 0


class ClientsTest(unittest.TestCase):
    def test_second_client_of_a_function_is_refused_with_a_message(self):
        with platform("--set", "devices=2", board="trn3-chip") as running, running.connect() as p:
            self.assertEqual(p.wait(condition="ready")["reason"], "condition")
            path = os.path.join(running.folder, "chip0.sock")
            first = VfioUser(path)
            self.assertEqual(first.hello()[0], 0)
            error, text = VfioUser(path).hello()
            self.assertEqual(error, EBUSY)
            self.assertIn(b"chip0 already has a client", text)
            status, output = self.ctl(running, "chip0", "info")
            self.assertEqual(status, 1)
            self.assertIn("chip0 already has a client", output)
            # Neither the first client nor the client of the other function is affected.
            self.assertTrue(first.is_served())
            status, output = self.ctl(running, "chip1", "copy", "host", "hbm0@16MiB", "1MiB", "--verify")
            self.assertEqual(status, 0, output)
            self.assertTrue(first.is_served())
            first.link.close()
            self.assertEqual(self.ctl(running, "chip0", "info")[0], 0)

    def test_hosts_of_two_servers_run_concurrently(self):
        board = "tests/integration/control/two_servers.yaml"
        with platform(board=board) as running, running.connect() as p:
            self.assertEqual(p.wait(condition="ready")["reason"], "condition")
            sockets = sorted(name for name in os.listdir(running.folder) if name.endswith(".sock"))
            self.assertEqual(
                sockets, ["control.sock", "server0.chip0.sock", "server0.chip1.sock", "server1.chip0.sock", "server1.chip1.sock"]
            )
            functions = p.list("functions")
            self.assertEqual(
                [(f["name"], f["server"], f["chip"]) for f in functions][2:],
                [("server1.chip0", "server1", True), ("server1.chip1", "server1", True)],
            )
            # Each server has its own bus, on which each chip has a unique address.
            hbm = [{b["bar"]: b["bus_address"] for b in f["bars"]}[4] for f in functions]
            self.assertEqual(hbm[0], hbm[2])
            self.assertNotEqual(hbm[0], hbm[1])
            # Both attach before either copies; a third attaches to a server that already has a
            # host.
            held = VfioUser(os.path.join(running.folder, "server0.chip1.sock"))
            self.assertEqual(held.hello()[0], 0)
            words = ["copy", "host", "hbm0@16MiB", "4MiB", "--verify"]
            both = [
                subprocess.Popen(
                    [os.environ["TRNCTL"], "--connect", running.folder, "--chip", chip, *words],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                for chip in ("server0.chip0", "server1.chip0")
            ]
            for one in both:
                output, _ = one.communicate(timeout=WALL_LIMIT)
                self.assertEqual(one.returncode, 0, output)
            self.assertTrue(held.is_served())

    def test_two_hosts_of_a_rack_copy_to_each_others_chips_concurrently(self):
        board = "tests/integration/control/two_sleds.yaml"
        with platform(board=board) as running, running.connect() as p:
            self.assertEqual(p.wait(condition="ready")["reason"], "condition")
            # From chip 0 of each server to chip 3 of the other: bit 63, server << 55, chip << 51 (doc/models/scale_up/neuron_link.md).
            ways = [("sled0.chip0", 1), ("sled1.chip0", 0)]
            for chip, other in ways:
                status, output = self.ctl(running, chip, "copy", "host", "hbm0@16MiB", "32MiB", "--verify", "--seed", str(40 + other))
                self.assertEqual(status, 0, output)
            # A third host, which must not be affected.
            held = VfioUser(os.path.join(running.folder, "sled1.chip3.sock"))
            self.assertEqual(held.hello()[0], 0)
            for _ in range(3):
                both = []
                for chip, other in ways:
                    place = f"axi@{1 << 63 | other << 55 | 3 << 51 | 256 << 20:#x}"
                    both.append(
                        subprocess.Popen(
                            [
                                os.environ["TRNCTL"],
                                "--connect",
                                running.folder,
                                "--chip",
                                chip,
                                "copy",
                                "hbm0@16MiB",
                                place,
                                "32MiB",
                                "--verify",
                            ],
                            stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT,
                            text=True,
                        )
                    )
                for one in both:
                    output, _ = one.communicate(timeout=WALL_LIMIT)
                    self.assertEqual(one.returncode, 0, output)
            self.assertTrue(held.is_served())
            held.link.close()
            mib = 1 << 20
            sent = [p.peek(f"{chip}.hbm0.in", 30 * mib, mib) for chip, _ in ways]
            self.assertNotEqual(sent[0], sent[1])
            for n, (_, other) in enumerate(ways):
                self.assertEqual(p.peek(f"sled{other}.chip3.hbm0.in", (256 + 14) * mib, mib), sent[n])
            through = p.statistics(module="wire0")["wire0"]["a_to_b_payload_bytes"]  # to the rack's switch
            self.assertGreaterEqual(through, 3 * 32 * mib)

    def test_control_socket_accepts_many_clients_and_refuses_one_too_many(self):
        with platform(board="trn3-chip") as running:
            clients = []
            with self.assertRaises((OSError, EOFError, trnvp_control.ControlError)) as refused:
                for _ in range(17):
                    clients.append(running.connect())
            self.assertEqual(len(clients), 16)
            self.assertIn("16 clients", str(refused.exception))
            for one in clients:
                self.assertIn("time_ps", one.status())
            clients.pop().close()
            end = time.monotonic() + WALL_LIMIT
            while len(clients) < 16 and time.monotonic() < end:
                try:
                    clients.append(running.connect())
                except (OSError, EOFError, trnvp_control.ControlError):
                    time.sleep(0.01)
            self.assertEqual(len(clients), 16)
            for one in clients:
                one.close()

    def ctl(self, running, chip, *words):
        done = subprocess.run(
            [os.environ["TRNCTL"], "--connect", running.folder, "--chip", chip, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WALL_LIMIT,
            check=False,
        )
        return done.returncode, done.stdout


if __name__ == "__main__":
    unittest.main(verbosity=2)
