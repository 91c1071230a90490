// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "platform/framework/kernel/trace_writer.h"

namespace trn::trace {

/// Writes one line per event and computes a digest; for "" only the digest. \throws
/// std::system_error
std::unique_ptr<writer> make_text_writer(
    const std::string& path, streamed_file::mode opening = streamed_file::mode::replace);

}  // namespace trn::trace
