# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus as sw-stubs/monitoring/get_prometheus.sh unpacks it; a test without it is skipped."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from typing import Iterator

SKIPPED = 77
WALL_LIMIT = 120.0


def program(name: str) -> str:
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = pathlib.Path(os.environ.get("TRNVP_PROMETHEUS") or cache / "trnvp/prometheus")
    if (folder / name).exists():
        return str(folder / name)
    missing = folder / "missing"
    reason = missing.read_text().strip() if missing.exists() else "./dev setup has not fetched Prometheus"
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Server:
    """A running Prometheus."""

    def __init__(self, address: str):
        self.address = address

    def get(self, path: str, **query: str) -> object:
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=WALL_LIMIT) as response:
            return json.load(response)["data"]

    def value(self, query: str) -> float | None:
        """Of the first series that the query finds."""
        data = self.get("query", query=query)
        assert isinstance(data, dict)
        return float(data["result"][0]["value"][1]) if data["result"] else None

    def alerts(self) -> dict[str, str]:
        """State by name; "firing" if one instance fires."""
        data = self.get("alerts")
        assert isinstance(data, dict)
        found: dict[str, str] = {}
        for alert in data["alerts"]:
            name = alert["labels"]["alertname"]
            found[name] = "firing" if "firing" in (alert["state"], found.get(name)) else alert["state"]
        return found


def wait_until(what: str, condition: object, limit: float = WALL_LIMIT) -> None:
    assert callable(condition)
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.1)


@contextlib.contextmanager
def server(folder: pathlib.Path, config: str) -> Iterator[Server]:
    """Its files are in `folder`. Prometheus chooses no port itself, so the caller of a taken one tries another."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "prometheus.yaml").write_text(config)
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(
            [
                program("prometheus"),
                f"--config.file={folder / 'prometheus.yaml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    started = Server(f"127.0.0.1:{port}")

    def answers() -> bool:
        if process.poll() is not None:
            raise RuntimeError(f"prometheus ended: {(folder / 'log').read_text()[-2000:]}")
        try:
            started.get("alerts")
            return True
        except OSError:
            return False

    try:
        wait_until("prometheus answers", answers)
        yield started
    finally:
        process.terminate()
        process.wait()
