// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace trn::isa {

/// The table of instructions as Markdown, for doc/models/instructions.md.
std::string page_chapter();

/// Rewrites the chapter between its two comments in `page`, or with `check` compares it.
/// \throws file_error, std::runtime_error when the page is stale or has no place for it
void update_page(const std::filesystem::path& page, bool check);

}  // namespace trn::isa
