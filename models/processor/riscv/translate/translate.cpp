// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/translate.h"

#include <memory>
#include <utility>

#include "models/processor/riscv/translate/check.h"
#include "models/processor/riscv/translate/checked_run.h"
#include "models/processor/riscv/translate/translator.h"
#include "platform/framework/log.h"

namespace trn::riscv::translate {

bool choose(mode requested, const options& chosen) {
    back_end::choose(nullptr);
    if (requested == mode::interpret) return true;
    constexpr translator::check_mode check{check_run, checked_run::reference_to};
    auto made = std::make_shared<translator>(chosen, requested == mode::check ? &check : nullptr);
    if (!made->usable()) {
        static bool said = false;
        if (!std::exchange(said, true))
            log::info("riscv", "harts interpret: this host does not let programs make code");
        return false;
    }
    back_end::choose(std::move(made));
    return true;
}

}  // namespace trn::riscv::translate
