// SPDX-License-Identifier: Apache-2.0
// Power samples for the host (contract section 12) and the power profile (section 4.3).
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Publishes one sample per die; the sample counter shows the host that it is new.
void power_sample(void);

/// Profile 0 is full power; the others cap it. False for a profile that does not exist.
bool power_set_profile(uint8_t profile);
uint8_t power_profile(void);
/// One bit per profile.
uint32_t power_profiles_available(void);

/// Whether the cores report throttling to the host, in their notification rings.
void power_notify_throttling(bool wanted);
