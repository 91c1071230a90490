// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "platform/framework/kernel/trace_writer.h"

namespace trn::trace {

/// One line per event, and their digest. No path: the digest alone. \throws std::system_error
std::unique_ptr<writer> make_text_writer(const std::string& path);

}  // namespace trn::trace
