#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A driver that does not wait for firmware: it reads and writes HBM as soon as the chip has power."""
from vfio_user import BAR4, COMMAND, CONFIG, MEMORY_SPACE, Function

chip = Function("chip0")
chip.write(CONFIG, COMMAND, MEMORY_SPACE, 2)
chip.write(BAR4, 16 << 20, 0x12345678)
print(f"it reads {chip.read(BAR4, 16 << 20):#x}")
