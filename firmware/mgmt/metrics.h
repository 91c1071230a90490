// SPDX-License-Identifier: Apache-2.0
// What the driver posts about itself (contract section 12): the last text per metric id.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METRICS_MOST 32
#define METRICS_TEXT 64

/// Keeps every record {u8 id, u8 length, ASCII} of `bytes`; id 0 ends the list early. False when a
/// record runs past the end: nothing of it is kept.
bool metrics_keep(const uint8_t* bytes, size_t length);
/// The text of a metric, or NULL.
const char* metrics_find(uint8_t id);
unsigned metrics_count(void);
