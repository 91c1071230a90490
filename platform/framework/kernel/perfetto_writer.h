// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "platform/framework/kernel/trace_writer.h"

namespace trn::trace {

/// Writes a file for the Perfetto viewer. \throws std::system_error
std::unique_ptr<writer> make_perfetto_writer(const std::string& path);

}  // namespace trn::trace
