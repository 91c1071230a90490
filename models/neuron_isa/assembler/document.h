// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace trn::isa {

/// The table of instructions as Markdown, for doc/models/neuron_isa/instructions.md.
std::string page_chapter();

/// Replaces the chapter between its two marker comments in `page`; with `check`, compares it
/// instead. \throws file_error, std::runtime_error if the page is stale or has no markers
void update_page(const std::filesystem::path& page, bool check);

}  // namespace trn::isa
