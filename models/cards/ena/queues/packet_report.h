// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/cards/ena/queues/completions.h"
#include "models/cards/ena/queues/flow_hash.h"

namespace trn::ena_queues {

/// Fields of a received packet's completion: protocols, results of checksum checks, and flow hash.
io_entry report_on(std::span<const std::uint8_t> packet, const std::optional<hash_key>& key);

}  // namespace trn::ena_queues
