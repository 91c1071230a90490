// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/neuron_core/semaphore_posters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "models/neuron_isa/instructions/codec.h"
#include "models/soc/semaphores/semaphores_regs.h"

namespace trn {

namespace regs = semaphores_regs;
using isa::update_mode;

namespace {

bool updates(std::uint8_t mode, bool event) {
    const auto plain = static_cast<update_mode>(mode & ~isa::at_issue);
    if (event) return plain == update_mode::event_set || plain == update_mode::event_clear;
    return plain == update_mode::add || plain == update_mode::subtract || plain == update_mode::set;
}

}  // namespace

bool semaphore_posters::writes(std::uint64_t address, bool event, unsigned index) const {
    const std::uint64_t offset = address - semaphores_;
    if (event) return offset == regs::offset(regs::reg::event, index);
    return std::ranges::any_of(
        std::array{regs::reg::semaphore_set, regs::reg::semaphore_increment,
                   regs::reg::semaphore_decrement},
        [&](regs::reg window) { return offset == regs::offset(window, index); });
}

bool semaphore_posters::posts(const isa::instruction& i, bool event, unsigned index) const {
    if (i.update.index == index && updates(i.update.mode, event)) return true;
    if (const auto* list = std::get_if<isa::sync_list>(&i.control))
        return std::ranges::any_of(*list, [&](const isa::sync_entry& e) {
            return (e.mode & isa::sync_entry::update) != 0 && e.index == index &&
                   updates(e.mode & 0x7f, event);
        });
    if (const auto* list = std::get_if<isa::write_list>(&i.control))
        return std::ranges::any_of(*list, [&](const isa::posted_write& w) {
            return w.size != 0 && writes(w.address, event, index);
        });
    if (const auto* copy = std::get_if<isa::dge_copy_fields>(&i.control))
        return !event && copy->semaphore == index;
    if (i.opcode == isa::opcode::reg_store)
        return writes(std::get<isa::register_fields>(i.control).address, event, index);
    return false;
}

std::string semaphore_posters::describe(const isa::wait_condition& wait,
                                        std::span<const program> programs) const {
    const auto mode = static_cast<isa::wait_mode>(wait.mode);
    const bool event = mode == isa::wait_mode::event_set || mode == isa::wait_mode::event_clear;
    std::string all;
    for (const program& p : programs) {
        std::array<std::uint8_t, isa::max_words * isa::word_bytes> bytes{};
        const std::uint32_t end = std::min(p.words, max_words);
        for (std::uint32_t pc = 0, length = 1; pc < end; pc += length) {
            length = 1;
            const auto address = p.base + std::uint64_t{pc} * isa::word_bytes;
            if (read_(address, std::span(bytes).first(isa::word_bytes)) != isa::word_bytes) break;
            if (isa::check_header(std::span(bytes).first(16), p.engine, isa::generation::v4))
                continue;
            if ((bytes[2] & isa::flag::long_form) != 0) {
                length = 2;
                if (read_(address + isa::word_bytes, std::span(bytes).last(isa::word_bytes)) !=
                    isa::word_bytes)
                    break;
            }
            if (!posts(isa::decode(bytes).value, event, wait.index)) continue;
            all += fmt::format("{}{} at {} ({})", all.empty() ? "posted by " : ", ",
                               isa::name_of(p.engine), describe_pc(lines_, p.engine, pc), p.state);
            break;
        }
    }
    return all.empty() ? "posted by no program of this core: by DMA, another core or the host"
                       : all;
}

}  // namespace trn
