// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stdexcept>

#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

/// A JSON value is not a state; what() names the field.
struct state_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A state in the form that the control method `devices` returns and that recordings contain: the
/// names of machine_state.h; what is not known is absent.
nlohmann::json to_json(const machine_state& state);
/// Accepts fields that it does not know. \throws state_error for a value of another type
machine_state state_of(const nlohmann::json& value);
/// JSON schema (draft 7) of that form.
nlohmann::json state_schema();

}  // namespace trn::telemetry
