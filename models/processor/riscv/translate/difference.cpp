// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/difference.h"

#include <fmt/format.h>

#include <bit>
#include <span>

namespace trn::riscv::translate {

namespace {

constexpr unsigned count = 32;
using csr_words = std::array<u64, sizeof(csr_state) / sizeof(u64)>;

std::string difference(const char* file, std::span<const u64> translated,
                       std::span<const u64> interpreted, unsigned first = 0) {
    for (unsigned i = first; i < translated.size(); ++i)
        if (translated[i] != interpreted[i])
            return fmt::format("{}{} is {:#x}, and {:#x} when interpreted", file, i, translated[i],
                               interpreted[i]);
    return {};
}

}  // namespace

std::string difference(const registers& translated, const registers& interpreted) {
    if (auto of_x = difference("x", std::span(translated.x).first<count>(),
                               std::span(interpreted.x).first<count>(), 1);
        !of_x.empty())
        return of_x;
    if (auto of_f = difference("f", translated.f, interpreted.f); !of_f.empty()) return of_f;
    return difference("word of csr_state ", std::bit_cast<csr_words>(translated.csr),
                      std::bit_cast<csr_words>(interpreted.csr));
}

}  // namespace trn::riscv::translate
