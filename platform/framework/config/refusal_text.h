// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/config/units.h"

namespace trn::config {

/// Message and suggestion in one sentence, for a command line.
inline std::string refusal_text(const refusal& why) {
    return why.suggestion.empty() ? why.message : why.message + ": " + why.suggestion;
}

}  // namespace trn::config
