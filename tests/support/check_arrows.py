#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes between folders point one way: doc/architecture.md, "Folders"."""
import pathlib
import re
import subprocess
import sys

# folder -> prefixes of what it may include from the project; the first matching folder counts.
F = "platform/framework/"
BASE = [F + "config/", F + "log", F + "output.h", F + "sanitized.h", F + "unique_fd.h"]


def framework(name, *others):
    return {f"{F}{name}/": BASE + [f"{F}{other}/" for other in (name, *others)]}


ALLOWED = {
    **framework("config"),
    **framework("command_line"),
    **framework("process"),
    **framework("misuse"),
    **framework("registers", "misuse"),
    **framework("loader"),
    **framework("kernel", "misuse"),
    **framework("tlm", "kernel"),
    **framework("netlist", "tlm", "kernel"),
    **framework("snapshots", "kernel", "process"),
    **framework("attach", "kernel", "tlm"),
    **framework("debug", "kernel", "attach"),
    F: BASE,
    "platform/app/recording/log/": ["platform/app/recording/log/", F + "config/json.h"],  # the file format alone
    "platform/app/": ["platform/", "models/", "sw-stubs/"],
    "models/": BASE + ["models/"] + [F + part for part in
                                     ("tlm/", "registers/", "kernel/", "misuse/", "loader/", "netlist/")],
    "sw-stubs/trnctl/": None,  # `trnctl --board` is the whole platform in one process
    "sw-stubs/host/": ["sw-stubs/", F + "config/"],  # words of the command line and of scenarios
    "sw-stubs/": ["sw-stubs/", "trn/"],
    "firmware/": ["firmware/", "trn/"],
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
        text = pathlib.Path(name).read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            if not any(match[1].startswith(prefix) for prefix in allowed):
                line = text.count("\n", 0, match.start(1)) + 1
                wrong.append(f"{name}:{line}: {folder} may not include {match[1]}")
    print("\n".join(wrong) if wrong else f"{len(files)} files: every include points the allowed way")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
