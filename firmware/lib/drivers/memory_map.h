// SPDX-License-Identifier: Apache-2.0
// Address maps and interrupt numbers of the management processor and the CC-Cores. Invented: AWS
// publishes none. The table with reasons is doc/models/soc/management.md; the board YAML and the
// tests use the same numbers.
#pragma once

// Local devices.
#define MAP_BOOT_ROM 0x00010000
#define MAP_BOOT_ROM_SIZE 0x8000
#define MAP_ACLINT 0x02000000
#define MAP_PLIC 0x0c000000
#define MAP_UART 0x10000000
#define MAP_WATCHDOG 0x10001000
#define MAP_SENSORS 0x10002000
#define MAP_FLASH_REGS 0x10003000
#define MAP_RESET_CONTROLLER 0x10004000
#define MAP_SIMULATOR_RESET 0x10005000
#define MAP_MISC_RAM 0x10006000  // local port to the bytes at AXI_MISC_RAM
#define MAP_MISUSE_PORT 0x10007000
#define MAP_HBM_CTRL 0x10010000  // one per stack
#define MAP_HBM_CTRL_STRIDE 0x1000
#define MAP_DIE_TO_DIE 0x10020000
#define MAP_NEURON_LINK 0x10030000
#define MAP_FLASH_WINDOW 0x20000000
#define MAP_FLASH_SIZE 0x100000
#define MAP_SRAM 0x40000000
#define MAP_SRAM_SIZE 0x100000
// With stock software only (doc/guide-firmware.md).
#define MAP_POWER 0x00100000
#define MAP_IMAGE_STORE 0x50000000
#define MAP_IMAGE_STORE_SIZE 0x20000000
#define MAP_RAM 0x80000000  // in the HBM
#define MAP_RAM_SIZE 0x80000000

// The processors of a server (platform/boards/hosts/riscv_host.yaml); boot ROM, ACLINT, UART and
// RAM as above. The RAM's size is the board's: the limit is the next device.
#define MAP_HOST_SRAM 0x00020000
#define MAP_HOST_SRAM_SIZE 0x10000
#define MAP_HOST_CONFIG_SPACE 0x30000000
#define MAP_HOST_IMAGE_STORE 0x10000000000
#define MAP_HOST_IMAGE_STORE_SIZE 0x20000000
#define HOST_MAX_HARTS 64  // of an ACLINT

// A CC-Core's own aperture, as its hart addresses it (doc/models/processor/top_sp.md).
#define MAP_CC_SYNC 0x0000
#define MAP_CC_CONTROL 0x2000
#define MAP_CC_INSTRUCTIONS 0x10000
#define MAP_CC_INSTRUCTIONS_SIZE 0x10000
#define MAP_CC_DATA 0x20000
#define MAP_CC_DATA_SIZE 0x10000
#define MAP_CC_PROGRAMS 0x100000  // one per slot
#define MAP_CC_PROGRAM_SIZE 0x40000
#define MAP_CC_NOTIFICATIONS 0x400000  // notification queues

// The chip's AXI space (contract section 3.1), host memory included: hart address = window + AXI.
#define MAP_AXI_WINDOW 0x0080000000000000

// PLIC sources.
#define IRQ_UART 1
#define IRQ_WATCHDOG 2
#define IRQ_SENSORS 3
#define IRQ_FLASH 4
#define IRQ_DOORBELL 5         // misc RAM +0x800 was written
#define IRQ_SIMULATOR_RESET 6  // the simulator reset register was written
#define IRQ_HBM 7              // any stack: an ECC event
#define IRQ_DIE_TO_DIE 8
#define IRQ_LINKS 9
#define IRQ_WATCHED 10    // the host has read the power sample or the heartbeat
#define IRQ_SRAM 11       // any NeuronCore: an error of its memories
#define IRQ_STALE 12      // the host overwrote a word of misc RAM, or the function was reset
#define IRQ_DMA_ABORT 16  // + n: group n of the DMA engines (mgmt/generation.h)
#define IRQ_SOURCES 31

// Ticks of mtime per second.
#define MTIME_HZ 10000000
