// SPDX-License-Identifier: Apache-2.0
// Hardware errors: counted, logged, and shown to the host in misc RAM.
#pragma once

#include <stdint.h>

/// Turns on the interrupts that report errors.
void health_init(void);
/// Writes ECC counts and repair state into misc RAM.
void health_publish(void);
/// Repairs rows that wait for it; what a device reset or a start of the driver asks for
/// (hardware facts: a repairable error is pending until then).
void health_repair_hbm(void);
/// Of the components `which` (bits of HEALTH_STATUS) exactly `unhealthy` are not healthy.
void health_set(uint32_t which, uint32_t unhealthy);
/// Newer drivers look whether the heartbeat moves.
void health_heartbeat(void);

// Events of the main loop.
void health_hbm_error(void);
void health_sram_error(void);
void health_dma_abort(void);
void health_temperature(void);
/// Engines came out of a reset: listens for aborts again, on every line.
void health_dma_was_reset(void);
