#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sections of doc/control-methods.md: the control methods, as a platform lists them.

usage: tests/support/methods_page.py TRNVP PAGE [--check]

With --check it writes nothing; exit status 1 means that the page is stale.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "sw-stubs/python"))

import generated_page  # noqa: E402
import trnvp_control  # noqa: E402
from generated_page import cell  # noqa: E402


def methods_of(program: str) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen(
            [program, "run", "trn3-chip", "--paused", "--uart", "none", "--listen", folder],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as running:
            while not (pathlib.Path(folder) / "control.sock").exists():
                if running.poll() is not None:
                    sys.exit(f"{program} ended with status {running.returncode}")
                time.sleep(0.01)
            with trnvp_control.connect(folder) as platform:
                methods = platform.methods()
                platform.quit()
    return methods


def rows(fields: list[dict], head: str, has_default: bool) -> str:
    if not fields:
        return ""
    text = f"\n| {head} | Value |{' Default |' if has_default else ''} Meaning |\n|---|---|{'---|' if has_default else ''}---|\n"
    for one in fields:
        name = ", ".join(f"`{name}`" for name in one["name"].split(", ") if name)
        default = f" {cell(one['default'])} |" if has_default else ""
        text += f"| {name} | {cell(one['type'])} |{default} {cell(one['description'])} |\n"
    return text


def section(method: dict) -> str:
    text = f"\n## {method['name']}\n\n{method['description']}\n"
    text += rows(method["takes"], "Parameter", True) + rows(method["returns"], "Result", False)
    if method["fails"]:
        text += "\nErrors: " + "; ".join(f"{one['code']} ({one['when']})" for one in method["fails"]) + ".\n"
    return text


def main() -> int:
    methods = methods_of(sys.argv[1])
    part = "| Method | |\n|---|---|\n"
    part += "".join(f"| [`{one['name']}`](#{one['name']}) | {cell(one['description'])} |\n" for one in methods)
    part += "".join(section(one) for one in methods) + "\n"
    return generated_page.write(pathlib.Path(sys.argv[2]), "methods", part, "--check" in sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
