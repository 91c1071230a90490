// SPDX-License-Identifier: Apache-2.0
// Translated harts: blocks that are executed often become x86-64 code. Design:
// doc/models/translated-harts.md.
#pragma once

#include "models/riscv/translate/options.h"

namespace trn::riscv::translate {

enum class mode {
    interpret,
    translate,
    check,  ///< executes every block twice and compares: registers, stores, next pc
};

/// For harts whose code cache is empty. False: this host or build cannot translate, and harts
/// interpret; that is logged once.
bool choose(mode how, const options& chosen = {});

}  // namespace trn::riscv::translate
