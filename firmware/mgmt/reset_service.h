// SPDX-License-Identifier: Apache-2.0
// Resets that the host requests: contract sections 5.1 (handshake), 5.2 (map), 2 (simulator).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/lib/drivers/reset_controller.h"

/// The reset lines that a reset map selects (contract section 5.2).
struct reset_domains reset_map_domains(uint32_t map);

/// Serves RESET_REQUEST of misc RAM. False when there was no request.
bool reset_serve_handshake(void);
/// Serves the reset word of the simulator revision.
void reset_serve_simulator(void);
