// SPDX-License-Identifier: Apache-2.0
// Metrics that the driver posts (contract section 12): the latest text of each metric id.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METRICS_MAX 32
#define METRICS_TEXT 64

/// Stores all records {u8 id, u8 length, ASCII} of `bytes`; id 0 ends the list early. False, and
/// nothing is stored, when a record exceeds `length`.
bool metrics_keep(const uint8_t* bytes, size_t length);
/// The text of a metric, or NULL.
const char* metrics_find(uint8_t id);
unsigned metrics_count(void);
