// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <trn/sensors_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define SENSORS(reg) (MAP_SENSORS + TRN_SENSORS_##reg##_OFFSET)
#define SENSORS_AT(reg, index) (MAP_SENSORS + TRN_SENSORS_##reg##_OFFSET(index))
#define SENSORS_POWER_FULL_SCALE 10000  // basis points

/// Power of a die in basis points of its rated power, 0..10000 (contract section 12).
static inline uint32_t sensors_power_basis_points(unsigned die) {
    const uint32_t rated = mmio_read(SENSORS(RATED_POWER));
    const uint64_t power = mmio_read(SENSORS_AT(POWER, die));
    if (rated == 0 || power >= rated) return SENSORS_POWER_FULL_SCALE;
    return (uint32_t)(power * SENSORS_POWER_FULL_SCALE / rated);
}
/// Millidegree Celsius: dies 0 and 1, then HBM stacks 0 to 3.
static inline int32_t sensors_temperature(unsigned diode) {
    return (int32_t)mmio_read(SENSORS_AT(TEMPERATURE, diode));
}
/// Turns reports of throttling in the cores' notification rings on or off.
static inline void sensors_notify_throttling(bool wanted) {
    mmio_write(SENSORS(NOTIFY), wanted ? TRN_SENSORS_NOTIFY_THROTTLE_MASK : 0);
}
/// Throttles both dies to `percent` of rated power.
static inline void sensors_set_power_cap(unsigned percent) {
    const uint32_t cap = (uint32_t)((uint64_t)mmio_read(SENSORS(RATED_POWER)) * percent / 100);
    for (unsigned die = 0; die < TRN_SENSORS_POWER_CAP_COUNT; ++die)
        mmio_write(SENSORS_AT(POWER_CAP, die), cap);
}
