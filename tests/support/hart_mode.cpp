// SPDX-License-Identifier: Apache-2.0
// Linked into tests of harts: with TRNVP_HART=translate or TRNVP_HART=check, harts translate each
// block before its first execution.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "models/processor/riscv/translate/translate.h"

namespace {

using trn::riscv::translate::mode;

const bool chosen = [] {
    const char* const name = std::getenv("TRNVP_HART");
    const std::string_view execution = name == nullptr ? "interpret" : name;
    const bool check = execution == "check";
    if (!check && execution != "translate") return false;
    if (trn::riscv::translate::choose(check ? mode::check : mode::translate, {.threshold = 1}))
        return true;
    std::fputs("this host does not translate\n", stderr);
    std::exit(1);
}();

}  // namespace
