// SPDX-License-Identifier: Apache-2.0
// Power samples for the host (contract section 12) and the power profile (section 4.3).
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Publishes one sample per die with a new sample counter, by which the host recognises it.
void power_sample(void);

/// Profile 0 is full power; the others cap the power. False for an unknown profile.
bool power_set_profile(uint8_t profile);
uint8_t power_profile(void);
/// Bit n: profile n exists.
uint32_t power_profiles_available(void);

/// Turns reports of throttling in the cores' notification rings on or off.
void power_notify_throttling(bool wanted);
