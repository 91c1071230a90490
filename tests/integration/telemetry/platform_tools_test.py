# SPDX-License-Identifier: Apache-2.0
"""trn-ls, trn-monitor, trn-top and /metrics of a running platform: what firmware publishes, injected faults, and clients."""
from __future__ import annotations

import json
import os
import re
import subprocess
import time
import unittest
import urllib.request

from running_platform import WALL_LIMIT, platform

LS, TOP, MONITOR, TRNCTL = (os.environ[name] for name in ("TRN_LS", "TRN_TOP", "TRN_MONITOR", "TRNCTL"))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=WALL_LIMIT)


def devices_of(folder: str) -> list[dict]:
    done = run(LS, "--connect", folder, "--json-output")
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def wait_for(condition) -> None:
    end = time.monotonic() + WALL_LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)


class PlatformTools(unittest.TestCase):
    def test_a_chip_and_its_faults(self) -> None:
        with platform("--uart", "none", board="trn3-chip") as running:
            with running.connect() as control:
                control.call("wait", condition="ready", wall_limit=WALL_LIMIT)
                (device,) = devices_of(running.folder)
                self.assertEqual((device["neuron_device"], device["nc_count"], device["status"]), (0, 4, "ready"))
                self.assertEqual(device["memory_size"], 144 << 30)
                self.assertEqual(device["instance_type"], "trn3.48xlarge")
                modules = [m["name"] for m in control.call("list") if m["name"].endswith("hbm0")]
                control.call("inject", module=modules[0], fault="hbm_uncorrected", arguments={"offset": 4096})
                done = run(
                    TRNCTL, "--connect", running.folder, "copy", "hbm0@4096", "hbm1@16MiB", "64B"
                )  # the copy reads the byte, and fails
                self.assertEqual(done.returncode, 1, done.stderr)
                wait_for(lambda: "hbm_uncorrected" in run(LS, "--connect", running.folder, "--state").stdout)

                def errors() -> int:
                    report = json.loads(run(MONITOR, "--connect", running.folder, "--count", "1").stdout)
                    return report["system_data"]["neuron_hw_counters"]["neuron_devices"][0]["mem_ecc_uncorrected"]

                wait_for(lambda: errors() > 0)

    def test_metrics_in_the_platform(self) -> None:
        with platform("--uart", "none", "--metrics", "0", "--json", board="trn3-chip") as running:
            with running.connect() as control:
                control.call("wait", condition="ready", wall_limit=WALL_LIMIT)
            port = run("sh", "-c", f"ss -ltnpH | grep pid={running.process.pid},").stdout
            found = re.search(r"127\.0\.0\.1:(\d+)", port)
            if found is None:
                self.skipTest("ss does not list the port")
            for _ in range(5):
                with urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/metrics", timeout=WALL_LIMIT) as page:
                    text = page.read().decode()
            self.assertIn("trn_device_ready{", text)
            self.assertIn("# TYPE trn_simulated_time_seconds gauge\n", text)  # a snapshot takes it back
            done = run(MONITOR, "--connect", running.folder, "--prometheus", found[1])
            self.assertEqual((done.returncode, "Address already in use" in done.stderr), (2, True))

    def test_an_attached_process_has_its_name(self) -> None:
        with platform("--uart", "none", board="trn3-chip") as running:
            with running.connect() as control:
                control.call("wait", condition="ready", wall_limit=WALL_LIMIT)
            with subprocess.Popen(
                [TRNCTL, "--connect", running.folder, "bench", "--iterations", "100000"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as client:
                try:
                    wait_for(lambda: devices_of(running.folder)[0]["neuron_processes"] or client.poll() is not None)
                    processes = devices_of(running.folder)[0]["neuron_processes"]
                    if client.poll() is None:
                        self.assertEqual(processes[0]["pid"], client.pid)
                        self.assertIn("trnctl", processes[0]["command"])
                finally:
                    client.kill()

    def test_a_number_names_one_device(self) -> None:
        with platform("--uart", "none", board="trn3-sled") as running:
            with running.connect() as control:
                control.call("wait", condition="ready", wall_limit=WALL_LIMIT)
                control.pause()
                names = [m["name"] for m in control.call("list") if m["name"].endswith("misc_ram")]
                control.poke(register=f"{names[1]}.TOPOLOGY_PLACE", value=0)  # that of the first chip
                control.poke(register=f"{names[2]}.SRAM_ECC", value=0xDEADBEEF)
                for stack in range(4):
                    control.poke(space=f"{names[2]}.in", address=0x44 + 4 * stack, data=0xDEADBEEF.to_bytes(4, "little"))
            state = json.loads(run(LS, "--connect", running.folder, "--state").stdout)
            devices = state["instances"][0]["devices"]
            self.assertEqual([d["index"] for d in devices], list(range(len(names))))
            self.assertEqual([d["name"] for d in devices], [f"chip{n}" for n in range(len(names))])
            self.assertEqual([name for name in devices[2] if name.startswith(("sram_", "hbm_"))], ["hbm_bytes"])

    def test_tools_end_with_the_platform(self) -> None:
        with platform("--uart", "none", board="trn3-chip") as running:
            running.connect().close()
            tools = [
                subprocess.Popen([program, "--connect", running.folder, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for program, options in ((MONITOR, ["--period", "0.1"]), (LS, ["--watch", "0.1", "--json"]))
            ]
            time.sleep(1)
            for tool in tools:
                self.assertIsNone(tool.poll())  # both at once
            running.process.terminate()
            for tool in tools:
                with tool:
                    self.assertEqual(tool.wait(WALL_LIMIT), 1)
                    self.assertIn(b"platform", tool.stderr.read())

    def test_a_screen_of_a_platform_that_boots(self) -> None:
        with platform("--uart", "none", "--paused", board="trn3-chip") as running:
            running.connect().close()
            done = run(TOP, "--connect", running.folder, "--once", "--columns", "40")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("booting", done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 40)


if __name__ == "__main__":
    unittest.main()
