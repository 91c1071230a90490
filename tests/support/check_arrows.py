#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes between folders point one way: doc/architecture.md, "Folders"."""
import pathlib
import re
import subprocess
import sys

# folder -> prefixes of what it may include from the project; the first matching folder counts.
BASE = ["platform/config/", "platform/log"]
ALLOWED = {
    "platform/config/": ["platform/config/"],
    "platform/registers/": BASE + ["platform/registers/", "platform/misuse/"],
    "platform/tlm/": BASE + ["platform/tlm/", "platform/kernel/trace.h"],
    "platform/misuse/": BASE + ["platform/misuse/"],
    "platform/kernel/": BASE + ["platform/kernel/", "platform/misuse/"],
    "platform/loader/": BASE + ["platform/loader/"],
    "platform/netlist/": BASE + ["platform/netlist/", "platform/tlm/", "platform/kernel/"],
    "platform/snapshots/": BASE + ["platform/snapshots/", "platform/kernel/"],
    "platform/drawing/": ["platform/drawing/", "platform/netlist/"],
    "platform/debug/": BASE + ["platform/debug/", "platform/kernel/", "platform/attach/"],
    "platform/attach/": BASE + ["platform/attach/", "platform/kernel/", "platform/tlm/"],
    "platform/recording/log/": ["platform/recording/log/", "platform/config/json.h"],  # the file format alone
    "platform/recording/": None,  # records and plays hosts: board, control methods, functions
    "models/": BASE + ["models/", "platform/tlm/", "platform/registers/", "platform/kernel/",
                       "platform/misuse/", "platform/loader/"],
    "platform/doors/": None,  # opens every way in: sockets, GDB, recorded or not
    "platform/scenario/": None,  # plays a host: board, control methods and driver stub
    "sw-stubs/trnctl/": None,  # `trnctl --board` is the whole platform in one process
    "sw-stubs/transports/in_process": ["sw-stubs/", "platform/attach/", "platform/tlm/", "platform/kernel/trace.h"],
    "sw-stubs/host/": ["sw-stubs/", "platform/config/"],  # words of the command line and of scenarios
    "sw-stubs/": ["sw-stubs/", "trn/"],
    "firmware/": ["firmware/", "trn/"],
}
# The few places where a model meets an interface that the platform defines for it.
EXTRA = {
    "models/kinds": ["platform/netlist/", "platform/drawing/"],
    "models/pcie/": ["platform/attach/function_port.h"],
    "models/root_complex/": ["platform/attach/function_port.h"],
    "models/riscv/": ["platform/debug/debug_target.h"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:platform|models|firmware|sw-stubs)/[^"]+)"', re.M)


def main() -> int:
    files = subprocess.run(["git", "ls-files", "*.h", "*.cpp", "*.c"], capture_output=True, text=True,
                           check=True).stdout.split()
    wrong = []
    for name in files:
        folder = next((f for f in ALLOWED if name.startswith(f)), None)
        if folder is None or ALLOWED[folder] is None:
            continue
        allowed = list(ALLOWED[folder])
        for prefix, more in EXTRA.items():
            if name.startswith(prefix):
                allowed += more
        text = pathlib.Path(name).read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            if not any(match[1].startswith(prefix) for prefix in allowed):
                line = text.count("\n", 0, match.start(1)) + 1
                wrong.append(f"{name}:{line}: {folder} may not include {match[1]}")
    print("\n".join(wrong) if wrong else f"{len(files)} files: every include points the allowed way")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
