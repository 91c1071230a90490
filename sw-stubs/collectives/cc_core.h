/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_CC_CORE_H
#define TRN_LIB_CC_CORE_H

#include "sw-stubs/driver/device.h"
#include "trn_coll.h"

/* Address of a CC-Core's aperture: offset in the register BAR, and AXI address. */
uint64_t trn_cc_bar_offset(const trn_device* device, uint32_t core);
uint64_t trn_cc_axi_address(const trn_device* device, uint32_t core);

/* The write that runs a slot's program once, for engines and DMA of the chip. */
trn_coll_trigger trn_cc_trigger_of(const trn_device* device, uint32_t core, uint32_t slot);

/* Decodes an error entry of a core's firmware. */
trn_cc_failure trn_cc_failure_of(const trn_notification* entry);

#endif
