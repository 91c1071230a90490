#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rule file and the dashboard, by Debian's promtool: the rules are valid and pass their test, each alert is
in the test, and the expressions of the dashboard are valid. Names and labels of both are those that /metrics has.
"""
from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import prometheus

ROOT = pathlib.Path(__file__).resolve().parents[3]
MONITORING = ROOT / "sw-stubs/monitoring"
RULES = MONITORING / "neuron_alerts.yaml"
TEST = pathlib.Path(__file__).with_name("neuron_alerts_test.yaml")


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([prometheus.program("promtool"), *arguments], capture_output=True, text=True, check=False)


def expect(condition: bool, message: str) -> None:
    if not condition:
        sys.exit(message)


def expressions(panels: list[dict[str, object]]) -> list[str]:
    """Variables of the dashboard become a regular expression."""
    found = []
    for panel in panels:
        targets = panel.get("targets", [])
        assert isinstance(targets, list)
        found += [str(target["expr"]).replace("$instance_id", ".*") for target in targets]
    return found


def unknown_names(texts: list[str]) -> set[str]:
    """Metrics and labels in the texts that the sources of /metrics do not have."""
    views = ROOT / "platform/app/telemetry/views"
    source = (views / "prometheus_text.cpp").read_text() + (views / "runtimes.h").read_text()
    known = set(re.findall(r'"(\w+)"', source)) | {"instance"}  # a label of Prometheus itself
    known |= {f"neuroncore_memory_usage_{kind}" for kind in known}
    used: set[str] = set()
    for text in texts:
        used.update(re.findall(r"\b(?:execution|hardware|instance|neuron|neuroncore|system|trn)_\w+", text))
        used.update(re.findall(r"{{ ?(?:\$labels\.)?(\w+) ?}}", text))
    return used - known


with tempfile.TemporaryDirectory(prefix="trnvp_") as folder:
    work = pathlib.Path(folder)
    checked = promtool("check", "rules", str(RULES))
    expect(checked.returncode == 0, checked.stdout + checked.stderr)
    tested = promtool("test", "rules", str(TEST))
    expect(tested.returncode == 0, tested.stdout + tested.stderr)

    alerts = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    untested = alerts - set(re.findall(r"Neuron\w+", TEST.read_text()))
    expect(not untested, f"{TEST} does not test {', '.join(sorted(untested))}")

    dashboard = json.loads((MONITORING / "neuron_dashboard.json").read_text())
    expressions_of_panels = expressions(dashboard["panels"])
    expect(len(expressions_of_panels) > 20, "the dashboard has no expressions")
    texts = [re.sub("- name: .*", "", RULES.read_text()), json.dumps(dashboard["panels"])]
    unknown = unknown_names(texts)
    expect(not unknown, f"not in /metrics: {', '.join(sorted(unknown))}")
    records = [f"      - {{record: 'a:b', expr: {json.dumps(one)}, labels: {{n: '{n}'}}}}" for n, one in enumerate(expressions_of_panels)]
    (work / "dashboard.yaml").write_text("groups:\n  - name: dashboard\n    rules:\n" + "\n".join(records) + "\n")
    checked = promtool("check", "rules", str(work / "dashboard.yaml"))
    expect(checked.returncode == 0, checked.stdout + checked.stderr)
    print(f"{len(alerts)} alerts, {len(expressions_of_panels)} expressions of the dashboard")
