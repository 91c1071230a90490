// SPDX-License-Identifier: Apache-2.0
// For builds on other hosts, or without AsmJit.
#include "models/processor/riscv/decode/back_end.h"
#include "models/processor/riscv/translate/translate.h"
#include "platform/framework/log.h"

namespace trn::riscv::translate {

bool choose(mode requested, const options&) {
    back_end::choose(nullptr);
    if (requested == mode::interpret) return true;
    static const bool said = [] {
        log::info("riscv",
                  "harts interpret: this program was built without translation (AsmJit on x86-64)");
        return true;
    }();
    return !said;
}

}  // namespace trn::riscv::translate
