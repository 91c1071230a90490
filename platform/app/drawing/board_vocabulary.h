// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/drawing/topology.h"

namespace trn {

/// Symbols and texts of the modules of this project's boards.
const drawing::vocabulary& board_vocabulary();

}  // namespace trn
