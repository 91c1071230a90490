// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/misuse/misuse.h"
#include "platform/scenario/parameters.h"
#include "platform/scenario/world.h"

// What the readers of steps share.

namespace trn::scenario {

/// What a step does, and how the report calls it.
struct action {
    std::string text;
    std::function<void(world&)> work;
    std::optional<misuse::rule> provokes = {};
    std::string shared = {};  ///< as of a step
};

/// HBM goes through its BAR window: the DMA engine cannot vouch for its own work.
std::vector<std::uint8_t> read_memory(world& w, const location& from, std::uint64_t size);
void write_memory(world& w, const location& to, const std::vector<std::uint8_t>& bytes);

/// `compute: {...}`: one packet of doc/dma_compute.md, compared with the reference.
action read_compute(const reader& r);

}  // namespace trn::scenario
