// SPDX-License-Identifier: Apache-2.0
// Translation of frequently executed blocks to x86-64 code. Design:
// doc/models/processor/translated-harts.md.
#pragma once

#include "models/processor/riscv/translate/options.h"

namespace trn::riscv::translate {

enum class mode {
    interpret,
    translate,
    check,  ///< executes runs of host code twice and compares: registers, stores, next pc, budget
};

/// Sets the mode of harts whose code cache is empty. False: this host or build does not support
/// translation, and harts interpret; logged once.
bool choose(mode requested, const options& chosen = {});

}  // namespace trn::riscv::translate
