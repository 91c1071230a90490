// SPDX-License-Identifier: Apache-2.0
// Causes and counts of resets, which the host reads in misc RAM.
#pragma once

#include <stdint.h>

/// Keeps the causes of this start (RESET_REASON), and publishes them.
void reset_counts_init(uint32_t causes);
/// Counts a reset of the device by the host.
void reset_counts_add(void);
void reset_counts_publish(void);
