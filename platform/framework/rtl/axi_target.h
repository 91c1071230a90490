// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "platform/framework/rtl/axi_burst.h"
#include "platform/framework/rtl/bus_target.h"
#include "platform/framework/rtl/stalls.h"

namespace trn::rtl {

/// Accesses of a socket to a design that is an AXI4 subordinate (IHI 0022H). An access of any
/// length becomes bursts of at most 256 beats within 4 KiB; byte enables become strobes; a
/// streaming width below the length becomes FIXED bursts.
class axi_target final : public bus_target {
public:
    struct settings {
        unsigned outstanding = 8;  ///< accesses under way; each has an ID, if the design has enough
        unsigned stall_percent = 0;  ///< cycles in which BREADY or RREADY is low
        /// An aligned access of 2, 4, 8 or 16 beats is a WRAP burst that begins at its middle.
        bool wraps = false;
    };

    /// `prefix`: of the ports: "s_axi_" for s_axi_awvalid.
    axi_target(block& owner, const char* name, const std::string& prefix, const settings& options);
    axi_target(block& owner, const char* name, const std::string& prefix)
        : axi_target(owner, name, prefix, settings()) {}

    void sample() override;
    void drive() override;
    void reset() override;
    bool is_idle() const override { return open_.empty() && !has_due(); }

private:
    /// An access that has been sent in part or whole.
    struct transaction {
        call* access;
        std::vector<axi_burst> bursts;
        unsigned id;
        std::size_t sent = 0;      // bursts whose address is accepted
        std::size_t written = 0;   // bursts whose data is accepted
        std::size_t answered = 0;  // bursts
        unsigned beat = 0;         // of the burst that is written or read
        tlm::tlm_response_status response = tlm::TLM_OK_RESPONSE;
    };
    struct address_channel {
        pin valid, address, id, length, size, kind, cache, protection;
        const pin ready;
    };

    tlm::tlm_response_status refusal(const tlm::tlm_generic_payload& payload) const override;
    std::string describe(const tlm::tlm_generic_payload& payload) const override;
    bool try_read(std::uint64_t address, std::uint8_t* bytes, unsigned length) override;

    address_channel find_channel(const std::string& prefix);
    std::vector<axi_burst> bursts_of(const tlm::tlm_generic_payload& payload, unsigned id) const;
    axi_burst next_burst(std::uint64_t address, std::uint64_t left) const;
    std::uint64_t place_of(const transaction& owner, const axi_burst& burst, unsigned beat) const;
    void begin(call& access);
    bool has_id(unsigned id) const;
    void show_address(address_channel& channel, tlm::tlm_command command);
    void show_data();
    void take_response();
    void take_data();
    void copy_beat(transaction& read, const axi_burst& burst);
    void take_answer(transaction& answered, std::uint64_t response);
    transaction* expecting(tlm::tlm_command command, std::uint64_t id);
    transaction* next_sender(tlm::tlm_command command);
    transaction* next_writer();
    void watch();
    const char* handshake() const;

    const settings options_;
    stalls stalls_;
    address_channel writes_, reads_;
    pin write_data_valid_, write_data_, strobe_, write_last_, write_response_ready_;
    pin read_data_ready_;
    const pin write_data_ready_, write_response_valid_, write_response_, write_id_;
    const pin read_data_valid_, read_data_, read_response_, read_last_, read_id_;
    const unsigned bus_bytes_;
    std::deque<std::unique_ptr<transaction>> open_;  // in the order of the accesses
    // What sample() has seen, for drive().
    bool is_held_response_ = false, is_held_data_ = false;  // valid and not ready in the last cycle
    std::uint64_t waited_ = 0;
};

}  // namespace trn::rtl
