// SPDX-License-Identifier: Apache-2.0
// Values of properties that are in a flattened device tree's /chosen.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chosen_value {
    const char* name;
    uint64_t value;
};

/// Sets properties of 4 or 8 bytes. False, and the tree is unchanged, if it does not have all, or
/// not with room for these values.
bool chosen_set(uint8_t* tree, const struct chosen_value* values, size_t count);
