/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_CORE_ENGINE_H
#define TRN_LIB_CORE_ENGINE_H

#include "sw-stubs/driver/device.h"
#include "trn/sequencer_regs.h"
#include "trn_program.h"

/* Control blocks of the engines of a core (NeuronCore spec 11). */

#define SEQUENCER(name) TRN_SEQUENCER_##name##_OFFSET

#define CORE_PSUM UINT64_C(0x2000000)
#define CORE_SYNC UINT64_C(0x2700000)
#define CORE_CONTROL UINT64_C(0x2800000)
#define CORE_CONTROL_STRIDE UINT64_C(0x1000)
#define PSUM_PARTITION_BYTES UINT64_C(16384)
#define CORE_PARTITIONS 128u

/* Offset of a control block in the register BAR, and in a core's aperture. */
static inline uint64_t trn_control_in_bar(const trn_device* device, uint32_t core,
                                          uint32_t engine) {
    return trn_block_address(&device->map->core_sync, core) - CORE_SYNC + CORE_CONTROL +
           engine * CORE_CONTROL_STRIDE;
}
static inline uint64_t trn_control_in_core(uint32_t engine) {
    return CORE_CONTROL + engine * CORE_CONTROL_STRIDE;
}

static inline uint32_t trn_control_read(trn_mmio* io, uint32_t core, uint32_t engine,
                                        uint64_t reg) {
    return trn_mmio_read(io, trn_control_in_bar(io->device, core, engine) + reg);
}

#endif
