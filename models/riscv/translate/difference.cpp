// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/translate/difference.h"

#include <fmt/format.h>

#include <span>

namespace trn::riscv::translate {

namespace {

constexpr unsigned count = 32;

std::string difference(char file, std::span<const u64, count> translated,
                       std::span<const u64, count> interpreted) {
    for (unsigned i = file == 'x' ? 1 : 0; i < count; ++i)
        if (translated[i] != interpreted[i])
            return fmt::format("{}{} is {:#x}, and {:#x} when interpreted", file, i, translated[i],
                               interpreted[i]);
    return {};
}

}  // namespace

std::string difference(const registers& translated, const registers& interpreted) {
    const auto of_x = difference('x', std::span(translated.x).first<count>(),
                                 std::span(interpreted.x).first<count>());
    return of_x.empty() ? difference('f', translated.f, interpreted.f) : of_x;
}

}  // namespace trn::riscv::translate
