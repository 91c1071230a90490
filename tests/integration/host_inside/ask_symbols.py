#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of the platform: writes the result of the control method `linux_symbols` to OUT, and the kernel's symbols
to ELF.

    ask_symbols.py OUT ELF
"""
import json
import os
import pathlib
import sys

import trnvp_control

with trnvp_control.connect(os.environ["TRNVP_SOCKETS"]) as platform:
    pathlib.Path(sys.argv[1]).write_text(json.dumps(platform.call("linux_symbols", file=sys.argv[2])), encoding="utf-8")
