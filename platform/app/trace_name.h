// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// Refuses the name of a trace whose ending is nearly ".perfetto-trace": it would be written as
/// text.
cli::validator trace_name();

}  // namespace trn
