// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/table.h"

namespace trn {

/// Checks of a register block against its table alone (house style R10): reset values, access
/// kinds, walking ones, aliasing, holes, widths, debug reads without side effects. Skips registers
/// with `contract_skip`. Works with any target of payloads; nothing else may access the block
/// meanwhile.
class block_contract {
public:
    using transport = std::function<void(tlm::tlm_generic_payload&, sc_core::sc_time&)>;
    using debug_transport = std::function<unsigned(tlm::tlm_generic_payload&)>;

    block_contract(const register_table& table, transport access, debug_transport debug,
                   std::uint64_t base = 0);

    /// What is broken, a sentence each: "uart.STATUS at 0x4, a write of 0x1 over 0x0: 0x0 instead
    /// of 0x1 (READY is 0x0 instead of 0x1)". Only the first one of a register.
    std::vector<std::string> violations();

private:
    struct element {
        const register_row& row;
        std::uint32_t index;
        std::uint64_t offset() const { return row.element(index); }
    };
    using check = bool (block_contract::*)(const element&);

    std::vector<element> elements() const;
    void for_each(check step);
    bool broken(const element& place, const std::string& action);
    bool differs(const element& place, const std::string& action, std::uint64_t seen,
                 std::uint64_t expected);
    bool differs(const element& place, const std::string& action, tlm::tlm_response_status seen,
                 tlm::tlm_response_status expected);

    tlm::tlm_response_status move(bool write, std::uint64_t offset, std::uint64_t& value,
                                  unsigned length);
    tlm::tlm_response_status write(std::uint64_t offset, std::uint64_t value);
    bool reads(const element& place, const std::string& action, std::uint64_t expected,
               std::uint64_t ignored = 0);
    bool shows(const element& place, const std::string& action, std::uint64_t expected,
               std::uint64_t ignored = 0);
    bool debug_read(const element& place, std::uint64_t& value);

    bool check_reset(const element& place);
    bool check_width(const element& place);
    bool check_refusals(const element& place);
    bool check_debug_reads(const element& place);
    bool check_read_effects(const element& place);
    bool check_writes(const element& place);
    void check_aliases();
    void check_holes();
    void check_hole(std::uint64_t offset);
    std::uint64_t ones() const;

    const register_table& table_;
    const register_index index_;
    const transport access_;
    const debug_transport debug_;
    const std::uint64_t base_;
    std::vector<std::string> violations_;
    std::set<std::uint64_t> broken_;  // offsets of registers
};

}  // namespace trn
