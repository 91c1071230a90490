// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trn::isa {

/// Replaces the table of instructions between its two marker comments in `page`
/// (doc/models/neuron_isa/instructions.md); with `check`, compares it instead. \throws file_error,
/// std::runtime_error if the page is stale or has no markers
void update_page(const std::filesystem::path& page, bool check);

}  // namespace trn::isa
