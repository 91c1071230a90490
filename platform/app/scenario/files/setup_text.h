// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/app/scenario/language/parameters.h"
#include "platform/framework/config/document.h"

namespace trn::scenario {

/// A text that steps of setups have in common when they do the same: the step with each ${name}
/// replaced, and the folder in which its files are.
std::string setup_text(const config::node& step, const parameters& values);

}  // namespace trn::scenario
