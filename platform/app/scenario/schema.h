// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace trn::scenario {

/// The JSON schema of scenario files, for editors. The readers of steps tell their keys themselves:
/// each is called as if no key, every key, and each key alone were there.
nlohmann::json schema();

}  // namespace trn::scenario
