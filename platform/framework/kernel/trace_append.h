// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trn::trace {

/// Adds lines to the text trace in `path`, and continues its operation numbers (resume_after()).
/// \throws std::system_error
void append_to(const std::string& path);

}  // namespace trn::trace
