// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/attach/control/control.h"

namespace trn {

/// Adds the engines of all modules that run programs: "engines" to the method `list`, and the
/// methods `engine` and `engine_control` (doc/debugging.md). Call it after elaboration.
void add_engines(control& methods);

}  // namespace trn
