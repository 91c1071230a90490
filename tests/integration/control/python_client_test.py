# SPDX-License-Identifier: Apache-2.0
"""The Python client against a running platform with real management firmware."""
import os
import signal
import socket
import stat
import threading
import time
import unittest

import trnvp_control
from running_platform import WALL_LIMIT, platform

ROUTING_ID = 0x24  # misc RAM, device contract section 4


class PythonClientTest(unittest.TestCase):
    def test_boot_inspect_and_quit(self):
        with platform("--paused") as running:
            with running.connect() as p:
                self.assertEqual(p.about["board"], "management-board")
                self.assertEqual(p.about["endianness"], "little")
                self.assertTrue(p.status()["paused"])
                self.assertEqual(p.status()["time_ps"], 0)
                self.assertEqual(p.peek("mgmt.misc_ram.in", ROUTING_ID), bytes.fromhex("efbeadde"))

                p.subscribe("uart", "state")
                self.assertEqual(p.run(condition="ready")["reason"], "condition")
                self.assertTrue(p.status()["ready"])
                self.assertEqual(p.peek("mgmt.misc_ram.in", ROUTING_ID), (3).to_bytes(4, "little"))
                events = list(p.events())
                text = "".join(e["text"] for topic, e in events if topic == "uart")
                self.assertIn("boot ROM", text)
                self.assertIn("state", {topic for topic, _ in events})

                started = p.status()["time_ps"]
                p.run(**{"for": "100 us"})
                self.assertEqual(p.status()["time_ps"] - started, 100_000_000)

                p.poke("hbm0.in", 0x1000, b"some bytes")
                self.assertEqual(p.peek("axi", 0x1000, 10), b"some bytes")
                harts = p.list("harts")
                self.assertEqual([h["name"] for h in harts], ["mgmt.cpu"])
                self.assertEqual(p.peek("mgmt.cpu", 0x4000_0000, 4), p.peek("mgmt.sram", 0, 4))
                self.assertIn("peek", {m["name"] for m in p.methods()})
                with self.assertRaises(trnvp_control.ControlError) as refused:
                    p.peek("no such space", 0)
                self.assertIn("no such space", str(refused.exception))
                self.assertEqual(p.inspect(module="hbm0")["type"], "hbm")
                p.quit()
            self.assertEqual(running.wait(), 0)
            self.assertFalse(os.path.exists(os.path.join(running.folder, "control.sock")))

    def test_registers_are_read_and_written_by_name_and_bytes_as_text(self):
        with platform("--paused") as running, running.connect() as p:
            self.assertIn("RESET_COUNT", {one["name"] for one in p.registers(module="mgmt.resets")})
            p.deposit(register="mgmt.resets.RESET_COUNT", value=9)
            self.assertEqual(p.peek(register="mgmt.resets.RESET_COUNT"), 9)
            with self.assertRaises(trnvp_control.ControlError) as refused:
                p.poke(register="mgmt.resets.RESET_COUNT", value=8)
            self.assertIn("software cannot write 'mgmt.resets.RESET_COUNT': use deposit", str(refused.exception))
            p.poke("mgmt.sram", 0x1000, "0102ff")
            p.poke("mgmt.sram", 0x1003, value=0x0504, width=2)
            self.assertEqual(p.peek("mgmt.sram", 0x1000, 5), bytes([1, 2, 255, 4, 5]))
            with self.assertRaises(trnvp_control.ControlError) as refused:
                p.poke("hbm0.in", 0x1000, b"before training")
            self.assertIn("hbm0.in refuses the write at 0x1000; deposit writes without", str(refused.exception))
            p.deposit("hbm0.in", 0x1000, b"before training")
            self.assertEqual(p.inject("hbm*", "hbm_corrected", offset="4 KiB"), [f"hbm{n}" for n in range(4)])

    def test_poke_acts_as_software_and_deposit_is_silent(self):
        with platform() as running, running.connect() as p:
            p.wait(condition="ready", wall_limit=WALL_LIMIT)
            p.wait(**{"for": "10 ms"})
            p.pause()
            before = p.console(module="mgmt.uart")["text"]
            p.deposit("mgmt.uart.in", 0, value=0x42)
            p.run(**{"for": "1 ms"})
            self.assertEqual(p.console(module="mgmt.uart")["text"], before)
            p.poke(register="mgmt.uart.DATA", value=0x43)
            p.poke("mgmt.uart.in", 0, value=0x44)
            p.poke("mgmt.cpu", 0x1000_0000, value=0x45)
            p.run(**{"for": "1 ms"})
            self.assertIn("CDE", p.console(module="mgmt.uart")["text"])

    def test_other_socket_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as other:

            def greet():
                with other.accept()[0] as client:
                    client.sendall(b"SSH-2.0\n")

            answer = threading.Thread(target=greet)
            answer.start()
            with self.assertRaisesRegex(trnvp_control.Disconnected, "is this its control socket"):
                trnvp_control.connect(f"127.0.0.1:{other.getsockname()[1]}")
            answer.join()

    def test_simulated_time_does_not_catch_up_after_a_pause(self):
        for policy in ("free", "realtime:1"):
            with self.subTest(policy=policy), platform("--time-policy", policy) as running, running.connect() as p:
                p.wait(condition="ready")
                p.pause()
                before = p.status()["time_ps"]
                time.sleep(0.5)
                self.assertEqual(p.status()["time_ps"], before)
                p.run()
                self.assertLess(p.status()["time_ps"] - before, 250_000_000_000)

    def test_two_runs_stop_at_the_same_picosecond(self):
        times = []
        for _ in range(2):
            with platform("--paused") as running, running.connect() as p:
                times.append(p.run(condition="ready")["time_ps"])
        self.assertEqual(times[0], times[1])

    def test_socket_is_private_and_a_signal_ends_the_platform_cleanly(self):
        with platform() as running:
            with running.connect() as p:
                control = os.path.join(running.folder, "control.sock")
                self.assertEqual(stat.S_IMODE(os.stat(control).st_mode), 0o600)
                p.wait(condition="ready")
                running.process.send_signal(signal.SIGTERM)
                self.assertEqual(running.wait(), 0)
                self.assertFalse(os.path.exists(control))
                with self.assertRaises(trnvp_control.Disconnected):
                    p.status()

    def test_hello_mismatch_is_refused_with_one_sentence(self):
        with platform() as running:
            running.connect().close()
            with self.assertRaises(trnvp_control.ControlError) as refused:
                trnvp_control.connect(running.folder, board="another-board")
            self.assertEqual(str(refused.exception), "the client expects board 'another-board', this platform is 'management-board'")

    def test_platform_survives_a_client_killed_during_a_wait(self):
        with platform() as running:
            for _ in range(3):
                p = running.connect()
                p._send(b'{"jsonrpc":"2.0","id":1,"method":"wait","params":{"for":"1000000 s"}}\n{"half')
                p.close()
            with running.connect() as p:
                self.assertEqual(p.wait(condition="ready")["reason"], "condition")

    def test_idle_booted_chip_uses_almost_no_processor_time(self):
        with platform() as running, running.connect() as p:
            p.wait(condition="ready")
            ticks = os.sysconf("SC_CLK_TCK")

            def cpu_seconds() -> float:
                with open(f"/proc/{running.process.pid}/stat", encoding="ascii") as f:
                    fields = f.read().rpartition(")")[2].split()
                return (int(fields[11]) + int(fields[12])) / ticks

            before, simulated = cpu_seconds(), p.status()["time_ps"]
            list(p.events(timeout=2.0))  # nothing is subscribed: no events for two seconds
            self.assertLess(cpu_seconds() - before, 0.2)
            self.assertGreater(p.status()["time_ps"] - simulated, 1e11)  # time passes, paced


if __name__ == "__main__":
    unittest.main(verbosity=2)
