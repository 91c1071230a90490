// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/drawing/topology.h"

namespace trn {

/// How the modules of this project's boards are drawn.
const drawing::vocabulary& board_vocabulary();

}  // namespace trn
