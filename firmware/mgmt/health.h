// SPDX-License-Identifier: Apache-2.0
// Counts and logs hardware errors, and publishes them to the host in misc RAM.
#pragma once

#include <stdint.h>

/// Enables the interrupts that report errors.
void health_init(void);
/// Writes ECC counts and repair state into misc RAM.
void health_publish(void);
/// Repairs HBM rows with a pending repair. Part of boot and of a device reset (hardware facts: a
/// repairable error stays pending until then).
void health_repair_hbm(void);
/// Sets the health of the components in `mask` (bits of HEALTH_STATUS): those also in `unhealthy`
/// are unhealthy, the rest healthy.
void health_set(uint32_t mask, uint32_t unhealthy);
/// Increments the heartbeat counter, which newer drivers monitor.
void health_heartbeat(void);

// Event handlers of the main loop.
void health_hbm_error(void);
void health_sram_error(void);
void health_dma_abort(void);
void health_temperature(void);
