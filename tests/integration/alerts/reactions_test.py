# SPDX-License-Identifier: Apache-2.0
"""Faults as operators see them: Prometheus scrapes a running platform and its alerts fire; trn-ls, trn-monitor and the attributes for
schedulers have the expected texts; the way back to healthy clears what is a state. The table in doc/alerts.md has the same rows.
"""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import unittest
from typing import Iterator

import prometheus
from prometheus import wait_until
from running_platform import WALL_LIMIT, Running, platform

LS, MONITOR, TRNCTL = (os.environ[name] for name in ("TRN_LS", "TRN_MONITOR", "TRNCTL"))
MONITORING = pathlib.Path(__file__).resolve().parents[3] / "sw-stubs/monitoring"
BAD_BYTE = (64 << 20) + 4096  # in a stack


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Operator:
    """Looks at a platform as an operator does: by tools and Prometheus."""

    def __init__(self, running: Running, server: prometheus.Server):
        self.folder = running.folder
        self.control = running.connect()
        self.server = server

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        whole = [command[0], "--connect", self.folder, *command[1:]]
        return subprocess.run(whole, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=WALL_LIMIT)

    def host(self, *command: str, fails: bool = False) -> None:
        done = self.run(TRNCTL, *command)
        if done.returncode != (1 if fails else 0):
            raise AssertionError(f"trnctl {' '.join(command)}: {done.returncode} {done.stdout}{done.stderr}")

    def table(self) -> str:
        return self.run(LS, "--wide").stdout

    def state(self, device: int = 0) -> dict[str, object]:
        return dict(json.loads(self.run(LS, "--state").stdout)["instances"][0]["devices"][device])

    def monitored(self, device: int = 0) -> dict[str, object]:
        report = json.loads(self.run(MONITOR, "--count", "1").stdout)
        return dict(report["system_data"]["neuron_hw_counters"]["neuron_devices"][device])

    def allocatable(self, device: int = 0) -> dict[str, object]:
        """Of the device's entry: whether it is healthy, and its taints."""
        entry = json.loads(self.run(LS, "--attributes").stdout)[0]["devices"][device]
        taints = [f"{taint['key']}={taint['value']}:{taint['effect']}" for taint in entry.get("taints", [])]
        return {"healthy": entry["attributes"]["trn/healthy"]["bool"], "taints": taints}

    def fires(self, alert: str) -> None:
        wait_until(f"{alert} fires", lambda: self.server.alerts().get(alert) == "firing")

    def clears(self, alert: str) -> None:
        wait_until(f"{alert} clears", lambda: alert not in self.server.alerts())


@contextlib.contextmanager
def operated(board: str) -> Iterator[Operator]:
    with tempfile.TemporaryDirectory(prefix="trnvp_") as name:
        folder = pathlib.Path(name)
        rules = (MONITORING / "neuron_alerts.yaml").read_text()
        (folder / "rules.yaml").write_text(re.sub(r"^( +for:) .*$", r"\1 500ms", rules, flags=re.M))
        port = free_port()
        config = (
            "global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}\n"
            f"rule_files: [{folder / 'rules.yaml'}]\n"
            "scrape_configs:\n"
            f"  - {{job_name: neuron, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}\n"
        )
        with platform("--uart", "none", "--metrics", str(port), board=board) as running:
            with running.connect() as control:
                control.call("wait", condition="ready", wall_limit=WALL_LIMIT)
            with prometheus.server(folder, config) as server:
                operator = Operator(running, server)
                wait_until("the first scrapes", lambda: (server.value("sum_over_time(up[1m])") or 0) > 2)
                try:
                    yield operator
                finally:
                    operator.control.close()


class Reactions(unittest.TestCase):
    def test_a_chip(self) -> None:
        with operated("trn3-chip") as operator:
            self.assertEqual(operator.allocatable(), {"healthy": True, "taints": []})
            for case in (self.gone, self.hbm_repair, self.uncorrectable, self.hang, self.hot, self.failed_repair):
                with self.subTest(case.__name__):
                    case(operator)

    def hbm_repair(self, operator: Operator) -> None:
        operator.control.inject("chip0.hbm1", "hbm_repairable", offset=BAD_BYTE)
        operator.host("copy", f"hbm1@{BAD_BYTE}", "hbm0@16MiB", "64B", fails=True)
        operator.fires("NeuronHbmRepairPending")
        self.assertEqual((operator.state()["repair"], operator.state()["hbm_repairable"]), ("pending", 1))
        operator.host("reset")
        operator.clears("NeuronHbmRepairPending")
        self.assertEqual((operator.state()["repair"], operator.state()["hbm_repairable"]), ("none", 0))

    def uncorrectable(self, operator: Operator) -> None:
        operator.control.inject("chip0.hbm0", "hbm_uncorrected", offset=BAD_BYTE)
        operator.host("copy", f"hbm0@{BAD_BYTE}", "hbm1@16MiB", "64B", fails=True)
        operator.fires("NeuronHbmUncorrectableErrors")
        self.assertEqual(operator.monitored()["mem_ecc_uncorrected"], 1)
        self.assertIn("unhealthy: hbm", operator.table())
        operator.host("copy", "host", "sbuf1@0", "1MiB")
        operator.control.inject("chip0.nc1", "sram_parity", offset=65600)
        operator.host("copy", "sbuf1@65536", "hbm1@16MiB", "4096B", fails=True)
        operator.fires("NeuronSramUncorrectableErrors")
        operator.fires("NeuronComponentUnhealthy")
        self.assertIn("unhealthy: hbm,sram", operator.table())
        self.assertEqual(operator.monitored()["unhealthy_components"], ["hbm", "sram"])
        self.assertEqual(operator.allocatable(), {"healthy": False, "taints": ["trn/health=unhealthy:NoSchedule"]})
        operator.host("reset")  # keeps the counts; the restart of the chip in the next case does not
        self.assertIn("unhealthy: hbm,sram", operator.table())

    def hot(self, operator: Operator) -> None:
        operator.control.inject("chip0.management.sensors", "temperature", diode=0, kelvin=70)
        operator.fires("NeuronOverTemperature")
        operator.control.inject("chip0.management.sensors", "temperature", diode=0, kelvin=0)
        operator.clears("NeuronOverTemperature")

    def hang(self, operator: Operator) -> None:
        operator.control.pause()
        operator.control.inject("chip0.management.cpu", "hang")
        operator.control.poke(register="chip0.management.misc_ram.TRIGGER", value=1)  # an idle chip needs no watchdog
        routing_id = {"space": "chip0.management.misc_ram.in", "address": 0x24, "equals": 0xDEADBEEF}
        self.assertEqual(operator.control.run(memory=routing_id, wall_limit=WALL_LIMIT)["reason"], "condition")
        operator.fires("NeuronDeviceNotReady")
        self.assertIn("booting", operator.table())
        self.assertEqual(operator.monitored()["status"], "booting")
        self.assertEqual(operator.allocatable(), {"healthy": False, "taints": ["trn/health=booting:NoSchedule"]})
        operator.control.run()
        operator.control.call("wait", condition="ready", wall_limit=WALL_LIMIT)
        operator.host("reset")
        operator.clears("NeuronDeviceNotReady")
        operator.clears("NeuronComponentUnhealthy")  # the words of earlier faults are 0
        wait_until("the restart is counted", lambda: operator.server.value("trn_device_restarts_total") == 1)
        operator.fires("NeuronDeviceRestarted")
        self.assertEqual(operator.allocatable(), {"healthy": True, "taints": []})

    def gone(self, operator: Operator) -> None:
        operator.control.inject("host", "card_removed")
        operator.fires("NeuronDeviceGone")
        self.assertIn("gone", operator.table())
        self.assertNotIn("mem_ecc_uncorrected", operator.monitored())
        self.assertEqual(operator.allocatable(), {"healthy": False, "taints": ["trn/health=gone:NoExecute"]})
        operator.control.inject("host", "card_inserted")
        operator.clears("NeuronDeviceGone")
        operator.control.call("wait", condition="ready", wall_limit=WALL_LIMIT)
        operator.host("reset")
        operator.fires("NeuronDeviceRestarted")
        self.assertEqual(operator.allocatable(), {"healthy": True, "taints": []})

    def failed_repair(self, operator: Operator) -> None:
        operator.control.inject("chip0.hbm2", "hbm_repairable", offset=BAD_BYTE)
        operator.host("copy", f"hbm2@{BAD_BYTE}", "hbm0@16MiB", "64B", fails=True)
        operator.control.inject("chip0.hbm2", "hbm_repair_fails")
        operator.host("reset")
        operator.fires("NeuronHbmRepairFailed")
        self.assertIn("unhealthy: hbm", operator.table())
        self.assertEqual(operator.state()["repair"], "failed")
        self.assertEqual(operator.allocatable(), {"healthy": False, "taints": ["trn/health=unhealthy:NoSchedule"]})

    def test_a_lost_link_and_an_ended_platform(self) -> None:
        with operated("trn3-sled") as operator:
            self.assertEqual(operator.server.alerts(), {})
            operator.control.inject("wire0", "link_down")
            operator.fires("NeuronLinkLost")
            operator.fires("NeuronComponentUnhealthy")
            self.assertIn("unhealthy: link_switch", operator.table())
            self.assertEqual(operator.monitored()["unhealthy_components"], ["link_switch"])
            self.assertEqual(operator.allocatable(0)["taints"], ["trn/health=unhealthy:NoSchedule"])
            self.assertEqual(operator.allocatable(1), {"healthy": True, "taints": []})
            operator.control.inject("wire0", "link_up")
            operator.clears("NeuronLinkLost")
            operator.clears("NeuronComponentUnhealthy")
            operator.fires("NeuronLinkUnstable")
            self.assertEqual(operator.allocatable(0), {"healthy": True, "taints": []})
            operator.control.quit()
            operator.fires("NeuronExporterGone")


if __name__ == "__main__":
    prometheus.program("prometheus")
    unittest.main()
