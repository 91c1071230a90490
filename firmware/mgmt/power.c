// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/power.h"

#include <stddef.h>

#include "firmware/lib/drivers/sensors.h"
#include "firmware/lib/log.h"
#include "firmware/mgmt/generation.h"
#include "firmware/mgmt/misc_ram.h"

// Invented: the driver passes profile numbers through without interpreting them.
static const uint8_t profile_percent[] = {100, 85, 70, 50};
#define PROFILES (sizeof profile_percent / sizeof profile_percent[0])

static uint8_t profile;

void power_sample(void) {
    static uint16_t counter;
    if (generation == NULL) return;  // an unknown chip: the boot has stopped
    ++counter;
    for (unsigned die = 0; die < generation->dies; ++die)
        misc_ram_write(MISC_RAM_AT(POWER, die),
                       (uint32_t)counter << 16 | sensors_power_basis_points(die));
}

bool power_set_profile(uint8_t wanted) {
    if (wanted >= PROFILES) return false;
    profile = wanted;
    sensors_set_power_cap(profile_percent[wanted]);
    log_info("power: profile %u, %u %% of rated power", wanted, profile_percent[wanted]);
    return true;
}

uint8_t power_profile(void) {
    return profile;
}

uint32_t power_profiles_available(void) {
    return (1u << PROFILES) - 1;
}

void power_notify_throttling(bool wanted) {
    sensors_notify_throttling(wanted);
}
