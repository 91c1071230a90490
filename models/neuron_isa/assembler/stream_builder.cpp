// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/stream_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trn::isa {

namespace {

constexpr unsigned target_byte = 28;  ///< of a branch: words from its own pc to the target

}  // namespace

void stream_builder::begin(unsigned core, std::optional<isa::engine> engine) {
    *this = {};
    stream_.core = core;
    stream_.engine = engine;
}

bool stream_builder::add_label(std::string_view name) {
    return labels_.emplace(std::string(name), pc()).second;
}

void stream_builder::add_use(const label_use& use, const expanded_line& line) {
    branches_.push_back({pc(), use, line});
}

void stream_builder::add_start(const transfer& started, std::size_t column,
                               const expanded_line& line) {
    starts_.push_back({pc(), started.name, column, line});
}

void stream_builder::add_words(std::span<const std::uint8_t> words, int line, std::uint8_t file) {
    stream_.words.insert(stream_.words.end(), words.begin(), words.end());
    stream_.lines.resize(pc(), line);
    stream_.files.resize(pc(), file);
}

std::optional<stream> stream_builder::finish(const error_reporter& report) {
    fill_in_targets(report);
    check_loops(report);
    if (!stream_.engine && pc() == 0) return std::nullopt;
    return std::move(stream_);
}

void stream_builder::fill_in_targets(const error_reporter& report) {
    for (const auto& [pc, target, line] : branches_) {
        const auto label = labels_.find(target.label);
        if (label == labels_.end()) {
            std::vector<std::string_view> known;
            for (const auto& [name, word] : labels_) known.emplace_back(name);
            report(line, {mistake::unknown_variable, target.column, target.label.size(),
                          fmt::format("no label '{}' in this stream", target.label),
                          suggest(target.label, std::span<const std::string_view>(known))});
            continue;
        }
        const auto distance = static_cast<std::uint32_t>(label->second - pc);
        for (unsigned b = 0; b < 4; ++b)
            stream_.words[pc * word_bytes + target_byte + b] =
                static_cast<std::uint8_t>(distance >> 8 * b);
    }
}

std::uint32_t stream_builder::field(std::size_t pc, unsigned byte, unsigned size) const {
    std::uint32_t value = 0;
    for (unsigned b = 0; b < size; ++b)
        value |= std::uint32_t{stream_.words[pc * word_bytes + byte + b]} << 8 * b;
    return value;
}

/// Refuses transfers inside loops: a second pass would ring for descriptors of other transfers.
void stream_builder::check_loops(const error_reporter& report) const {
    if (starts_.empty()) return;
    for (std::size_t pc = 0, size = 1; pc < this->pc(); pc += size) {
        const auto code = static_cast<opcode>(field(pc, 0, 2));
        size = (field(pc, 2, 1) & flag::long_form) != 0 ? 2 : 1;
        if (code != opcode::branch && code != opcode::loop) continue;
        const auto target =
            static_cast<std::int64_t>(pc) + static_cast<std::int32_t>(field(pc, target_byte, 4));
        const auto first = std::ranges::find_if(starts_, [&](const transfer_start& start) {
            return target <= static_cast<std::int64_t>(start.pc) && start.pc <= pc;
        });
        if (first == starts_.end()) continue;
        return report(first->line,
                      {mistake::refused_by_model,
                       first->column,
                       1,
                       fmt::format("'{}' is started in a loop: its descriptors are in the ring "
                                   "once; unroll the loop with .repeat, or use dge_copy",
                                   first->name),
                       {}});
    }
}

}  // namespace trn::isa
