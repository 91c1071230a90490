// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/contract.h"

#include <fmt/format.h>

#include <utility>

#include "platform/framework/log.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

namespace {

/// The value after a write, bit by bit; `is_first`: since the reset.
std::uint64_t value_after(const bit_access& bits, std::uint64_t old, std::uint64_t written,
                          bool is_first) {
    std::uint64_t value = old;
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t mask = std::uint64_t{1} << bit;
        const bool is_one = (written & mask) != 0;
        const auto acts = [&](std::uint64_t when_one, std::uint64_t when_zero) {
            return ((is_one ? when_one : when_zero) & mask) != 0;
        };
        if (!is_first && (bits.once & mask) != 0) continue;
        if (acts(bits.clears, bits.kept | bits.stored)) value &= ~mask;
        if (acts(bits.sets | bits.stored, bits.zero_sets)) value |= mask;
        if (acts(bits.toggles, bits.zero_toggles)) value ^= mask;
    }
    return value;
}

/// Whether a read leaves the value as it is.
bool is_kept_by_reads(const bit_access& bits) {
    return (bits.drained | bits.filled | bits.read_by_model) == 0;
}

std::string_view name_of(tlm::tlm_response_status status) {
    switch (status) {
    case tlm::TLM_OK_RESPONSE:
        return "TLM_OK_RESPONSE";
    case tlm::TLM_INCOMPLETE_RESPONSE:
        return "TLM_INCOMPLETE_RESPONSE";
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:
        return "TLM_ADDRESS_ERROR_RESPONSE";
    case tlm::TLM_COMMAND_ERROR_RESPONSE:
        return "TLM_COMMAND_ERROR_RESPONSE";
    case tlm::TLM_BURST_ERROR_RESPONSE:
        return "TLM_BURST_ERROR_RESPONSE";
    case tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE:
        return "TLM_BYTE_ENABLE_ERROR_RESPONSE";
    case tlm::TLM_GENERIC_ERROR_RESPONSE:
        break;
    }
    return "TLM_GENERIC_ERROR_RESPONSE";
}

}  // namespace

block_contract::block_contract(const register_table& table, transport access, debug_transport debug,
                               std::uint64_t base)
    : table_(table),
      index_(table),
      access_(std::move(access)),
      debug_(std::move(debug)),
      base_(base) {}

std::vector<std::string> block_contract::violations() {
    violations_.clear();
    broken_.clear();
    const auto loud = log::replace_sink({});  // thousands of refused accesses are expected
    for_each(&block_contract::check_reset);
    for_each(&block_contract::check_width);
    for_each(&block_contract::check_refusals);
    for_each(&block_contract::check_debug_reads);
    for_each(&block_contract::check_read_effects);
    for_each(&block_contract::check_writes);
    check_aliases();
    check_holes();
    log::replace_sink(loud);
    return std::exchange(violations_, {});
}

/// First, second and last element of every array.
std::vector<block_contract::element> block_contract::elements() const {
    std::vector<element> list;
    for (const auto& row : table_.rows) {
        if (!row.contract_skip.empty()) continue;
        for (const std::uint32_t i : {0u, 1u, row.count - 1})
            if (i < row.count &&
                (list.empty() || &list.back().row != &row || list.back().index < i))
                list.push_back({row, i});
    }
    return list;
}

void block_contract::for_each(check step) {
    for (const auto& each : elements())
        if (!broken_.contains(each.offset()) && !(this->*step)(each)) broken_.insert(each.offset());
}

// --- What is broken: these return true, so that a check can end

bool block_contract::broken(const element& place, const std::string& action) {
    violations_.push_back(fmt::format("{}.{}{} at {:#x}, {}", table_.block, place.row.name,
                                      place.row.count > 1 ? fmt::format("[{}]", place.index) : "",
                                      place.offset(), action));
    return true;
}

bool block_contract::differs(const element& place, const std::string& action, std::uint64_t seen,
                             std::uint64_t expected) {
    if (seen == expected) return false;
    std::string fields;
    for (const auto& [name, field] : table_.fields) {
        if (&table_.rows[field.reg] != &place.row || field.get(seen) == field.get(expected))
            continue;
        fields += fmt::format("{}{} is {:#x} instead of {:#x}", fields.empty() ? " (" : ", ", name,
                              field.get(seen), field.get(expected));
    }
    return broken(place, fmt::format("{}: {:#x} instead of {:#x}{}{}", action, seen, expected,
                                     fields, fields.empty() ? "" : ")"));
}

bool block_contract::differs(const element& place, const std::string& action,
                             tlm::tlm_response_status seen, tlm::tlm_response_status expected) {
    return seen != expected && broken(place, fmt::format("{}: {} instead of {}", action,
                                                         name_of(seen), name_of(expected)));
}

// --- Accesses

tlm::tlm_response_status block_contract::move(bool write, std::uint64_t offset,
                                              std::uint64_t& value, unsigned length) {
    tlm::tlm_generic_payload payload;
    set_access(payload, write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, base_ + offset,
               &value, length);
    sc_core::sc_time delay;
    access_(payload, delay);
    return payload.get_response_status();
}

tlm::tlm_response_status block_contract::write(std::uint64_t offset, std::uint64_t value) {
    return move(true, offset, value, table_.width);
}

/// A read on the bus is as expected.
bool block_contract::reads(const element& place, const std::string& action, std::uint64_t expected,
                           std::uint64_t ignored) {
    std::uint64_t value = 0;
    const auto status = move(false, place.offset(), value, table_.width);
    return !differs(place, action, status, tlm::TLM_OK_RESPONSE) &&
           !differs(place, action, value & ~ignored, expected & ~ignored);
}

/// A debug read is as expected.
bool block_contract::shows(const element& place, const std::string& action, std::uint64_t expected,
                           std::uint64_t ignored) {
    std::uint64_t value = 0;
    return debug_read(place, value) &&
           !differs(place, action, value & ~ignored, expected & ~ignored);
}

bool block_contract::debug_read(const element& place, std::uint64_t& value) {
    tlm::tlm_generic_payload payload;
    set_access(payload, tlm::TLM_READ_COMMAND, base_ + place.offset(), &value, table_.width);
    const unsigned bytes = debug_(payload);
    return bytes == table_.width ||
           !broken(place, fmt::format("a debug read: {} bytes instead of {}", bytes, table_.width));
}

std::uint64_t block_contract::ones() const {
    return table_.width == 8 ? ~0ull : (1ull << (table_.width * 8)) - 1;
}

// --- Checks: false at the first violation

bool block_contract::check_reset(const element& place) {
    if (!shows(place, "reset value by a debug read", place.row.reset)) return false;
    return place.row.bits.readable == 0 || !is_kept_by_reads(place.row.bits) ||
           reads(place, "reset value", place.row.reset & place.row.bits.readable);
}

bool block_contract::check_width(const element& place) {
    if (table_.width == 1) return true;
    constexpr auto refused = tlm::TLM_BURST_ERROR_RESPONSE;
    std::uint64_t value = 0;
    const unsigned half = table_.width / 2;
    return !differs(place, fmt::format("a read of {} bytes", half),
                    move(false, place.offset(), value, half), refused) &&
           !differs(place, "a write of a byte", move(true, place.offset(), value, 1), refused) &&
           !differs(place, "a misaligned write",
                    move(true, place.offset() + 1, value, table_.width), refused);
}

bool block_contract::check_refusals(const element& place) {
    constexpr auto refused = tlm::TLM_COMMAND_ERROR_RESPONSE;
    std::uint64_t value = ~0ull;
    if (place.row.bits.writable() == 0 &&
        (differs(place, "a write, though it is read-only",
                 move(true, place.offset(), value, table_.width), refused) ||
         !shows(place, "after a refused write", place.row.reset)))
        return false;
    return place.row.bits.readable != 0 ||
           !differs(place, "a read, though it is write-only",
                    move(false, place.offset(), value, table_.width), refused);
}

bool block_contract::check_debug_reads(const element& place) {
    std::uint64_t before = 0;
    return debug_read(place, before) && shows(place, "a second debug read", before);
}

bool block_contract::check_read_effects(const element& place) {
    const bit_access& bits = place.row.bits;
    if (is_kept_by_reads(bits)) return true;
    return reads(place, "a read", place.row.reset & bits.readable, bits.read_by_model) &&
           shows(place, "after a read", (place.row.reset & ~bits.drained) | bits.filled,
                 bits.read_by_model);
}

bool block_contract::check_writes(const element& place) {
    const bit_access& bits = place.row.bits;
    if (bits.writable() == 0) return true;
    std::vector<std::uint64_t> patterns{~0ull, 0, 0x5a5a5a5a5a5a5a5aull, 0};
    for (unsigned bit = 0; bit < table_.width * 8; ++bit) patterns.push_back(1ull << bit);
    bool is_first = true;
    for (const auto pattern : patterns) {
        const auto written = pattern & ones();
        std::uint64_t old = 0;
        if (!debug_read(place, old)) return false;
        const auto action = fmt::format("a write of {:#x} over {:#x}", written, old);
        const auto expected = value_after(bits, old, written, is_first);
        if (differs(place, action, write(place.offset(), written), tlm::TLM_OK_RESPONSE) ||
            !shows(place, action, expected, bits.written_by_model))
            return false;
        is_first = false;
        if (bits.readable != 0 && is_kept_by_reads(bits) &&
            !reads(place, "a read after " + action, expected & bits.readable,
                   bits.written_by_model))
            return false;
    }
    return true;
}

/// Checks that each register keeps its value while all others are written.
void block_contract::check_aliases() {
    std::vector<std::pair<element, std::uint64_t>> written;
    std::uint64_t mark = 0x9e3779b97f4a7c15ull;
    for (const auto& each : elements()) {
        if (each.row.bits.stored == 0 || broken_.contains(each.offset())) continue;
        mark = mark * 6364136223846793005ull + 1442695040888963407ull;
        const auto value = mark >> 7 & ones();
        std::uint64_t old = 0;
        if (!debug_read(each, old)) continue;
        const auto expected = value_after(each.row.bits, old, value, false);
        if (!differs(each, fmt::format("a write of {:#x}", value), write(each.offset(), value),
                     tlm::TLM_OK_RESPONSE))
            written.emplace_back(each, expected);
    }
    for (const auto& [each, expected] : written)
        shows(each, "after writes of the other registers", expected);
}

/// Checks the offsets directly after registers, and the last of the aperture.
void block_contract::check_holes() {
    std::vector<std::uint64_t> candidates{table_.size - table_.width};
    for (const auto& each : elements()) candidates.push_back(each.offset() + table_.width);
    for (const auto offset : candidates)
        if (offset < table_.size && index_.find(offset).slot == register_index::hole)
            check_hole(offset);
}

void block_contract::check_hole(std::uint64_t offset) {
    const auto differs_here = [&](const char* action, auto seen, auto expected) {
        if (seen == expected) return;
        violations_.push_back(fmt::format("{} at {:#x}, where no register is, {}: {} instead of {}",
                                          table_.block, offset, action, seen, expected));
    };
    std::uint64_t value = 0x5a;
    const auto written = move(true, offset, value, table_.width);
    const auto read_back = move(false, offset, value, table_.width);
    const auto expected =
        table_.holes == hole_policy::error ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
    differs_here("a write", name_of(written), name_of(expected));
    differs_here("a read", name_of(read_back), name_of(expected));
    if (table_.holes != hole_policy::error)
        differs_here("a read after a write", value, table_.holes == hole_policy::ram ? 0x5au : 0u);
}

}  // namespace trn
