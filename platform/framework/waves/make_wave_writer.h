// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "platform/framework/waves/wave_writer.h"

namespace trn {

/// Makes a writer for `path`: FST if it ends in ".fst", else a value change dump. \throws
/// std::system_error when the file cannot be created, std::invalid_argument when this build cannot
/// write it
std::unique_ptr<wave_writer> make_wave_writer(const std::string& path);
/// "": `path` can be written; otherwise why this build cannot write that format.
std::string wave_format_refusal(const std::string& path);

}  // namespace trn
