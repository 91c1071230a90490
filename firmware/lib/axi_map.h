// SPDX-License-Identifier: Apache-2.0
// Blocks in the AXI space of Trainium3 (contract section 3.1 and 3.2).
#pragma once

#define AXI_DIE_1 0x800000000000ull  // address bit that selects die 1
#define AXI_HOST_WINDOW 0x400000000000ull
#define AXI_APB_IO 0x8000000000ull
#define AXI_APB_IO_SIZE 0x20000000ull
#define AXI_MISC_RAM (AXI_APB_IO + 0x06c84000)
#define AXI_SIMULATOR_RESET (AXI_APB_IO + 0x06300010)
