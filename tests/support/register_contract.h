// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <tlm>
#include <vector>

#include "platform/framework/log.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/table.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::test {

/// Checks of a register block against its table alone (house style R10): reset values, access
/// kinds, walking ones, aliasing, holes, widths, debug reads without side effects. Skips registers
/// with `contract_skip`. Works with any target of payloads.
class register_contract {
public:
    using transport = std::function<void(tlm::tlm_generic_payload&, sc_core::sc_time&)>;
    using debug_transport = std::function<unsigned(tlm::tlm_generic_payload&)>;

    register_contract(const register_table& table, transport access, debug_transport debug,
                      std::uint64_t base = 0)
        : table_(table),
          index_(table),
          access_(std::move(access)),
          debug_(std::move(debug)),
          base_(base) {}

    /// Accesses the block through a bound initiator socket of a driver
    /// (tests/support/tlm_driver.h).
    template <class Driver>
    register_contract(Driver& driver, const register_table& table, std::uint64_t base = 0)
        : register_contract(
              table, [&driver](auto& p, auto& delay) { driver.out->b_transport(p, delay); },
              [&driver](auto& p) { return driver.out->transport_dbg(p); }, base) {}

    void check() {
        const auto loud = log::replace_sink({});  // thousands of refused accesses are expected
        for_each(&register_contract::check_reset);
        for_each(&register_contract::check_width);
        for_each(&register_contract::check_refusals);
        for_each(&register_contract::check_debug_reads);
        for_each(&register_contract::check_read_effects);
        for_each(&register_contract::check_writes);
        check_aliases();
        check_holes();
        log::replace_sink(loud);
    }

private:
    struct element {
        const register_row& row;
        std::uint32_t index;
        std::uint64_t offset() const { return row.element(index); }
    };

    void for_each(void (register_contract::*check)(const element&)) {
        for (const auto& e : elements()) {
            SCOPED_TRACE(std::string(table_.block) + "." + std::string(e.row.name) + "[" +
                         std::to_string(e.index) + "]");
            (this->*check)(e);
            if (testing::Test::HasFatalFailure()) return;
        }
    }

    /// First, second and last element of every array.
    std::vector<element> elements() const {
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

    tlm::tlm_response_status move(bool write, std::uint64_t offset, std::uint64_t& value,
                                  unsigned length) {
        tlm::tlm_generic_payload p;
        prepare(p, write, offset, value, length);
        sc_core::sc_time delay;
        access_(p, delay);
        return p.get_response_status();
    }
    void prepare(tlm::tlm_generic_payload& p, bool write, std::uint64_t offset,
                 std::uint64_t& value, unsigned length) const {
        set_access(p, write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, base_ + offset,
                   &value, length);
    }
    tlm::tlm_response_status write(std::uint64_t offset, std::uint64_t value) {
        return move(true, offset, value, table_.width);
    }
    std::uint64_t read(std::uint64_t offset) {
        std::uint64_t value = 0;
        EXPECT_EQ(move(false, offset, value, table_.width), tlm::TLM_OK_RESPONSE);
        return value;
    }
    std::uint64_t debug_read(std::uint64_t offset) {
        std::uint64_t value = 0;
        tlm::tlm_generic_payload p;
        prepare(p, false, offset, value, table_.width);
        EXPECT_EQ(debug_(p), table_.width) << "debug read transfers nothing";
        return value;
    }
    /// The value after a write, bit by bit; `is_first`: since the reset.
    static std::uint64_t expected(const bit_access& bits, std::uint64_t old, std::uint64_t written,
                                  bool is_first) {
        std::uint64_t value = old;
        for (unsigned bit = 0; bit < 64; ++bit) {
            const std::uint64_t mask = std::uint64_t{1} << bit;
            const bool is_one = (written & mask) != 0;
            const auto acts = [&](std::uint64_t ones, std::uint64_t zeros) {
                return ((is_one ? ones : zeros) & mask) != 0;
            };
            if (!is_first && (bits.once & mask) != 0) continue;
            if (acts(bits.clears, bits.kept | bits.stored)) value &= ~mask;
            if (acts(bits.sets | bits.stored, bits.zero_sets)) value |= mask;
            if (acts(bits.toggles, bits.zero_toggles)) value ^= mask;
        }
        return value;
    }
    /// Whether a read leaves the value as it is.
    static bool is_kept_by_reads(const bit_access& bits) {
        return (bits.drained | bits.filled | bits.read_by_model) == 0;
    }

    void check_reset(const element& e) {
        EXPECT_EQ(debug_read(e.offset()), e.row.reset) << "reset value by debug read";
        if (e.row.bits.readable != 0 && is_kept_by_reads(e.row.bits)) {
            EXPECT_EQ(read(e.offset()), e.row.reset & e.row.bits.readable) << "reset value";
        }
    }
    void check_width(const element& e) {
        if (table_.width == 1) return;
        std::uint64_t value = 0;
        EXPECT_EQ(move(false, e.offset(), value, table_.width / 2), tlm::TLM_BURST_ERROR_RESPONSE);
        EXPECT_EQ(move(true, e.offset(), value, 1), tlm::TLM_BURST_ERROR_RESPONSE);
        EXPECT_EQ(move(true, e.offset() + 1, value, table_.width), tlm::TLM_BURST_ERROR_RESPONSE);
    }
    void check_refusals(const element& e) {
        std::uint64_t value = ~0ull;
        if (e.row.bits.writable() == 0) {
            EXPECT_EQ(move(true, e.offset(), value, table_.width), tlm::TLM_COMMAND_ERROR_RESPONSE);
            EXPECT_EQ(debug_read(e.offset()), e.row.reset) << "a refused write had an effect";
        }
        if (e.row.bits.readable == 0) {
            EXPECT_EQ(move(false, e.offset(), value, table_.width),
                      tlm::TLM_COMMAND_ERROR_RESPONSE);
        }
    }
    void check_debug_reads(const element& e) {
        const auto before = debug_read(e.offset());
        EXPECT_EQ(debug_read(e.offset()), before) << "a debug read changed the register";
    }
    void check_read_effects(const element& e) {
        const bit_access& bits = e.row.bits;
        if (is_kept_by_reads(bits)) return;
        EXPECT_EQ(read(e.offset()) & ~bits.read_by_model,
                  e.row.reset & bits.readable & ~bits.read_by_model);
        const std::uint64_t left = (e.row.reset & ~bits.drained) | bits.filled;
        EXPECT_EQ(debug_read(e.offset()) & ~bits.read_by_model, left & ~bits.read_by_model)
            << "not cleared or set by reading";
    }
    void check_writes(const element& e) {
        if (e.row.bits.writable() == 0) return;
        std::vector<std::uint64_t> patterns{~0ull, 0, 0x5a5a5a5a5a5a5a5aull, 0};
        for (unsigned bit = 0; bit < table_.width * 8; ++bit) patterns.push_back(1ull << bit);
        bool is_first = true;
        for (const auto pattern : patterns) {
            const auto old = debug_read(e.offset());
            const auto known = ~e.row.bits.written_by_model;
            const auto want = expected(e.row.bits, old, pattern & ones(), is_first) & known;
            ASSERT_EQ(write(e.offset(), pattern), tlm::TLM_OK_RESPONSE);
            ASSERT_EQ(debug_read(e.offset()) & known, want)
                << "after writing " << pattern << " over " << old;
            is_first = false;
            if (e.row.bits.readable != 0 && is_kept_by_reads(e.row.bits)) {
                ASSERT_EQ(read(e.offset()) & known, want & e.row.bits.readable);
            }
        }
    }
    std::uint64_t ones() const {
        return table_.width == 8 ? ~0ull : (1ull << (table_.width * 8)) - 1;
    }

    /// Checks that each register keeps its value while all others are written.
    void check_aliases() {
        std::vector<std::pair<element, std::uint64_t>> written;
        std::uint64_t mark = 0x9e3779b97f4a7c15ull;
        for (const auto& e : elements()) {
            if (e.row.bits.stored == 0) continue;
            mark = mark * 6364136223846793005ull + 1442695040888963407ull;
            const auto value = mark >> 7 & ones();
            const auto want = expected(e.row.bits, debug_read(e.offset()), value, false);
            ASSERT_EQ(write(e.offset(), value), tlm::TLM_OK_RESPONSE);
            written.emplace_back(e, want);
        }
        for (const auto& [e, want] : written)
            EXPECT_EQ(debug_read(e.offset()), want)
                << table_.block << "." << e.row.name << "[" << e.index
                << "] was changed by a write elsewhere";
    }

    /// Checks the offsets directly after registers, and the last of the aperture.
    void check_holes() {
        std::vector<std::uint64_t> candidates{table_.size - table_.width};
        for (const auto& e : elements()) candidates.push_back(e.offset() + table_.width);
        for (const auto offset : candidates)
            if (offset < table_.size && index_.find(offset).slot == register_index::hole)
                check_hole(offset);
    }
    void check_hole(std::uint64_t offset) {
        SCOPED_TRACE(std::string(table_.block) + " hole at " + std::to_string(offset));
        std::uint64_t value = 0x5a;
        const auto written = move(true, offset, value, table_.width);
        const auto read_back = move(false, offset, value, table_.width);
        if (table_.holes == hole_policy::error) {
            EXPECT_EQ(written, tlm::TLM_ADDRESS_ERROR_RESPONSE);
            EXPECT_EQ(read_back, tlm::TLM_ADDRESS_ERROR_RESPONSE);
        } else {
            EXPECT_EQ(written, tlm::TLM_OK_RESPONSE);
            EXPECT_EQ(read_back, tlm::TLM_OK_RESPONSE);
            EXPECT_EQ(value, table_.holes == hole_policy::ram ? 0x5au : 0u);
        }
    }

    const register_table& table_;
    const register_index index_;
    const transport access_;
    const debug_transport debug_;
    const std::uint64_t base_;
};

}  // namespace trn::test
