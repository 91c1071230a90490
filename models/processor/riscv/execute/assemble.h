// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "models/processor/riscv/decode/code_cache.h"

namespace trn::riscv {

/// Returns a cache for harts that execute the operations of threaded.h.
std::shared_ptr<code_cache> make_code_cache();

}  // namespace trn::riscv
