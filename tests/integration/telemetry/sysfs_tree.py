# SPDX-License-Identifier: Apache-2.0
"""A folder tree in the form of the public driver's sysfs (release 2.25.4)."""
from __future__ import annotations

import os
import pathlib

STATUS = (
    "success failure timeout exec_bad_input hw_error execute_completed_with_error execute_completed_with_num_error "
    "generic_error resource_error resource_nc_error execute_failed_to_queue invalid_error oob_error "
    "hw_collectives_error hw_hbm_ue_error hw_nc_ue_error hw_dma_abort_error"
).split()
DEVICE_MEMORY = (
    "collectives constants dma_rings driver_memory model_code model_shared_scratchpad nonshared_scratchpad "
    "notifications runtime_memory tensors uncategorized"
).split()
HOST_MEMORY = "application_memory constants dma_buffers dma_rings driver_memory notifications tensors uncategorized".split()
OTHER = "flop_count inference_count model_load_count nc_time_in_use reset_req_count reset_fail_count".split()


def write(file: pathlib.Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def counter(folder: pathlib.Path, value: int, has_peak: bool) -> None:
    for name in ("total", "present", "peak") if has_peak else ("total", "present"):
        write(folder / name, f"{value}\n")


def neighbours(index: int, count: int) -> list[int]:
    """Of the driver's table: a torus of rows of 4, only of 16 devices."""
    if count != 16:
        return []
    x, y = index % 4, index // 4
    return [(x + 1) % 4 + 4 * y, (x + 3) % 4 + 4 * y, x + 4 * ((y + 1) % 4), x + 4 * ((y + 3) % 4)]


def make(root: pathlib.Path, devices: int = 16, cores: int = 8) -> pathlib.Path:
    """Returns the folder of the class."""
    classes = root / "sys/class/neuron_device"
    for name, text in {"node_id_4": "-1\n", "server_id_4": "0" * 16 + "\n", "ultraserver_mode": "\n"}.items():
        write(classes / name, text)
    for n in range(devices):
        device = classes / f"neuron{n}"
        write(device / "reset", "1\n")
        write(device / "core_count", str(cores))
        write(device / "connected_devices", ", ".join(map(str, neighbours(n, devices))) + "\n")
        write(device / "info/serial_number", f"{0x54524E3300000001 + n:016x}\n")
        write(device / "info/architecture/arch_type", "NDv4\n")
        write(device / "info/architecture/instance_type", "Trn3\n")
        write(device / "info/architecture/device_name", "Trainium3\n")
        for name in ("sram_ecc_uncorrected", "mem_ecc_uncorrected", "mem_ecc_repairable_uncorrected"):
            write(device / "stats/hardware" / name, "0\n")
        write(device / "stats/power/utilization", "POWER_STATUS_VALID,1764518400,10.00,30.00,20.25\n")
        for kind in HOST_MEMORY:
            counter(device / "stats/memory_usage/host_mem" / kind, 4096, True)
        for c in range(cores):
            stats = device / f"neuron_core{c}/stats"
            for name in STATUS:
                counter(stats / "status" / name, 0, False)
            memory = stats / "memory_usage"
            counter(memory / "host_mem", 0, True)
            counter(memory / "device_mem", 1024 * len(DEVICE_MEMORY), True)
            for kind in DEVICE_MEMORY:
                counter(memory / "device_mem" / kind, 1024, True)
            for name in OTHER:
                counter(stats / "other_info" / name, 0, False)
            write(device / f"neuron_core{c}/info/architecture/arch_type", "NCv4\n")
    write(root / "sys/devices/virtual/dmi/id/product_name", "trn3.48xlarge\n")
    write(root / "sys/module/neuron/version", "2.25.4.0\n")
    process = root / "proc/4711"
    (process / "fd").mkdir(parents=True)
    write(process / "comm", "python3\n")
    (process / "cmdline").write_bytes(b"python3\0train.py\0")
    for number, n in enumerate((0, 1)):
        os.symlink(f"/dev/neuron{n}", process / f"fd/{3 + number}")
    return classes
