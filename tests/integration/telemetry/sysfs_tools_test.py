# SPDX-License-Identifier: Apache-2.0
"""trn-ls, trn-monitor and trn-top over a folder tree in the form of the driver's sysfs."""
from __future__ import annotations

import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import termios
import time
import unittest
import urllib.error
import urllib.request

import sysfs_tree

LS, TOP, MONITOR = (os.environ[name] for name in ("TRN_LS", "TRN_TOP", "TRN_MONITOR"))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def read_metrics(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as response:
        return response.read().decode()


class Tools(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="trnvp_")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.classes = sysfs_tree.make(pathlib.Path(folder.name), 16, 2)

    def output(self, program: str, *options: str) -> str:
        done = run(program, "--sysfs", self.root, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_lists_devices(self) -> None:
        text = self.output(LS, "--topology")
        self.assertIn("instance-type: trn3.48xlarge", text)
        self.assertIn("| 4711 | python3 train.py |", text)
        self.assertIn("Wrap-around", text)
        self.assertNotIn("\033", text)
        devices = json.loads(self.output(LS, "--json-output"))
        self.assertEqual([d["neuron_device"] for d in devices], list(range(16)))
        self.assertEqual(devices[0]["connected_to"], [1, 3, 4, 12])
        self.assertEqual(devices[0]["neuron_processes"][0]["pid"], 4711)

    def test_reports(self) -> None:
        lines = self.output(MONITOR, "--period", "0.05", "--count", "2").splitlines()
        self.assertEqual(len(lines), 2)
        report = json.loads(lines[1])
        self.assertEqual(report["neuron_hardware_info"]["neuron_device_count"], 16)
        memory = report["neuron_runtime_data"][0]["report"]["memory_used"]["neuron_runtime_used_bytes"]
        self.assertEqual(memory["usage_breakdown"]["neuroncore_memory_usage"]["0"]["tensors"], 2048)

    def test_shows_a_screen(self) -> None:
        text = self.output(TOP, "--once")
        self.assertIn("trn-top running on", text)
        self.assertIn("ND15", text)
        self.assertIn("Tensors: 32.0KB", text)

    def test_leaves_the_terminal_as_it_was(self) -> None:
        ends = {"q": b"q", "quit and suspend keys, then q": b"\x1c\x1aq", "interrupt": b"\x03"}
        for name, keys in ends.items():
            with self.subTest(name):
                terminal, side = pty.openpty()
                try:
                    before = termios.tcgetattr(side)
                    with subprocess.Popen(
                        [TOP, "--sysfs", self.root],
                        stdin=side,
                        stdout=side,
                        stderr=side,
                        start_new_session=True,
                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                    ) as top:
                        shown = b""
                        while b"ND0" not in shown:
                            shown += os.read(terminal, 65536)
                        os.write(terminal, keys)
                        while b"\033[?1049l" not in shown:  # the first screen again
                            self.assertTrue(select.select([terminal], [], [], 60)[0])
                            shown += os.read(terminal, 65536)
                        self.assertEqual(top.wait(60), 0)
                    self.assertEqual(termios.tcgetattr(side), before)
                finally:
                    os.close(terminal)
                    os.close(side)

    def test_an_error_is_visible_in_all(self) -> None:
        (self.classes / "neuron2/stats/hardware/sram_ecc_uncorrected").write_text("3\n", encoding="utf-8")
        sysfs_tree.write(self.classes / "neuron2/stats/hardware/health_status/unhealthy_components", "sram\n")
        self.assertIn("unhealthy: sram", self.output(LS))
        self.assertIn("unhealthy: sram", self.output(TOP, "--once"))
        report = json.loads(self.output(MONITOR, "--count", "1"))
        device = report["system_data"]["neuron_hw_counters"]["neuron_devices"][2]
        self.assertEqual((device["sram_ecc_uncorrected"], device["unhealthy_components"]), (3, ["sram"]))
        slice_of = json.loads(self.output(LS, "--attributes"))[0]
        self.assertIn("taints", slice_of["devices"][2])

    def test_hostile_words_become_unknown(self) -> None:
        for name, text in {"core_count": "x" * 5000, "connected_devices": "1, \0, 3\n", "reset": "\xff\n"}.items():
            (self.classes / "neuron1" / name).write_bytes(text.encode("latin-1"))
        shutil.rmtree(self.classes / "neuron3/stats")
        os.mkfifo(self.classes / "neuron4/stats/power/extra")
        devices = json.loads(self.output(LS, "--json-output"))
        self.assertIsNone(devices[1]["connected_to"])
        self.assertEqual(devices[1]["nc_count"], 1)
        report = json.loads(self.output(MONITOR, "--count", "1"))
        counters = report["system_data"]["neuron_hw_counters"]
        self.assertNotIn("sram_ecc_uncorrected", counters["neuron_devices"][3])
        self.assertIn("sram_ecc_uncorrected", counters["error"])

    def test_a_recording_answers_for_a_time(self) -> None:
        record = self.root + "/run.jsonl"
        self.output(MONITOR, "--record", record, "--count", "2", "--period", "0.05")
        for program, option in ((LS, "--json-output"), (TOP, "--once"), (MONITOR, "--count=1")):
            done = run(program, "--file", record, "--at", "0", option)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(run(LS, "--file", record, "--at", "soon").returncode, 2)
        self.assertEqual(run(LS, "--file", record + "x").returncode, 2)

    def test_a_recording_is_not_replaced_by_its_reader(self) -> None:
        record = self.root + "/run.jsonl"
        self.output(MONITOR, "--record", record, "--count", "1")
        before = pathlib.Path(record).read_bytes()
        done = run(MONITOR, "--file", record, "--record", f"{self.root}/sys/../run.jsonl")
        self.assertEqual((done.returncode, pathlib.Path(record).read_bytes()), (2, before), done.stderr)

    def test_a_recording_is_a_state_of_the_schema(self) -> None:
        record = self.root + "/run.jsonl"
        self.output(MONITOR, "--record", record, "--count", "1")
        schema = json.loads(run(LS, "--schema").stdout)
        state = json.loads(pathlib.Path(record).read_text(encoding="utf-8"))
        self.assertEqual(set(schema["required"]) - set(state), set())

    def test_options_that_would_be_ignored_are_mistakes(self) -> None:
        for extra in (["--period", "1"], ["--count", "1"], ["--record", self.root + "/x"], ["-c", self.root + "/x"]):
            done = run(MONITOR, "--sysfs", self.root, "--prometheus", "0", *extra)
            self.assertEqual(done.returncode, 2, extra)
        self.assertFalse(os.path.exists(self.root + "/x"))
        self.assertEqual(run(LS, "--sysfs", self.root, "--state", "--attributes").returncode, 2)

    def test_mistakes_have_status_2_and_missing_devices_1(self) -> None:
        self.assertEqual(run(LS, "--sysfs", self.root + "/nowhere").returncode, 1)
        self.assertEqual(run(LS, "--sysfs", self.root, "--file", "x").returncode, 2)
        self.assertEqual(run(LS, "--colour").returncode, 2)
        self.assertEqual(run(MONITOR, "--sysfs", self.root, "--period", "0").returncode, 2)
        bad = self.root + "/config.json"
        pathlib.Path(bad).write_text('{"period": "soon"}', encoding="utf-8")
        done = run(MONITOR, "--sysfs", self.root, "-c", bad)
        self.assertEqual(done.returncode, 2)
        self.assertIn("soon", done.stderr)

    def serve(self) -> tuple[subprocess.Popen[str], int]:
        server = subprocess.Popen(
            [MONITOR, "--sysfs", self.root, "--prometheus", "0"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        self.addCleanup(server.wait)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.kill)
        return server, int(server.stderr.readline().split()[-1])

    def test_serves_metrics_to_good_and_bad_clients(self) -> None:
        server, port = self.serve()
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for request in (b"\0" * 9000, b"GET / HTTP/9\r\n\r\n", b"POST /metrics HTTP/1.1\r\n\r\n", b"GET"):
            with socket.create_connection(("127.0.0.1", port)) as bad:
                bad.sendall(request)
        text = read_metrics(port)
        self.assertIn('hardware_ecc_events_total{instance_name="",', text)
        self.assertIn("trn_device_ready{", text)
        with self.assertRaises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/other", timeout=60)
        for one in silent:
            one.close()
        for _ in range(10):  # a scrape every 100 ms
            start = time.monotonic()
            self.assertIn("neuroncore_memory_usage_tensors", read_metrics(port))
            time.sleep(max(0.0, 0.1 - (time.monotonic() - start)))
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(60), 0)

    def test_ends_when_the_driver_is_unloaded(self) -> None:
        server, port = self.serve()
        shutil.rmtree(self.root + "/sys")
        with self.assertRaises(urllib.error.HTTPError) as answer:
            read_metrics(port)
        self.assertEqual(answer.exception.code, 503)
        self.assertEqual(server.wait(60), 1)


if __name__ == "__main__":
    unittest.main()
