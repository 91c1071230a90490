// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "platform/framework/attach/control/rpc.h"

namespace trn::recording {

/// Limits of a control call in a recording, in bytes of JSON: longer parameters are refused, of a
/// longer answer a digest is stored.
constexpr std::size_t max_parameters = 4 << 20;
constexpr std::size_t max_answer = 64 << 10;

/// \throws rpc::error when the parameters are too long
void check_parameters(const rpc::json& parameters);
/// The text of a `control` event. Precondition: check_parameters().
std::string text_of_call(std::string_view method, const rpc::json& parameters,
                         const rpc::json& answer);
/// The answer as a recording stores it: one line of JSON.
std::string kept_answer(const rpc::json& answer);

}  // namespace trn::recording
