// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>

#include "platform/framework/misuse/initiator.h"
#include "platform/framework/rtl/axi_burst.h"
#include "platform/framework/rtl/block.h"
#include "platform/framework/rtl/outgoing_access.h"
#include "platform/framework/rtl/stalls.h"

namespace trn::rtl {

/// Bursts of a design that is an AXI4 manager, as accesses through a socket: one access per burst.
/// A design without the ports of bursts is an AXI4-Lite manager.
class axi_initiator final : public adapter, private blocking_initiator, private initiator {
public:
    struct settings {
        unsigned outstanding = 8;  ///< reads, and writes, that are accepted before the first answer
        unsigned stall_percent = 0;  ///< cycles in which AWREADY, WREADY or ARREADY is low
    };

    tlm::tlm_initiator_socket<64> out;

    /// `prefix`: of the ports: "m_axi_" for m_axi_awvalid.
    axi_initiator(block& owner, const char* name, const std::string& prefix,
                  const settings& options);
    axi_initiator(block& owner, const char* name, const std::string& prefix)
        : axi_initiator(owner, name, prefix, settings()) {}

    void sample() override;
    void drive() override;
    void reset() override;
    bool is_idle() const override;
    std::optional<sc_core::sc_time> due() const override;
    std::optional<std::string> describe_wait() const override;

private:
    struct transaction {
        transaction(const axi_burst& asked, sc_core::sc_event& wake) : burst(asked), access(wake) {}
        axi_burst burst;
        outgoing_access access;
        unsigned beat = 0;  // the next one
        bool is_sent = false;
        bool is_refused = false;  // the burst is not allowed
    };
    using transactions =
        std::deque<std::unique_ptr<transaction>>;  // in the order of their addresses
    struct address_channel {
        pin ready;
        const pin valid, address, id, length, size, kind;
    };

    std::string describe() const override { return owner_.name(); }
    address_channel find_channel(const std::string& prefix);
    axi_burst burst_of(const address_channel& channel) const;
    void accept(const address_channel& channel, transactions& open, const char* direction);
    void take_beat();
    void send(transaction& next, tlm::tlm_command command);
    void repeat_deferred(transactions& all);
    std::uint64_t response_of(const transaction& ended) const;
    transaction* ready_one(transactions& all) const;
    void drive_read();
    void drive_write_response();
    void erase(transactions& all, const transaction* ended);
    static bool is_at_memory(const std::unique_ptr<transaction>& each);
    bool is_memory_busy() const;
    bool has_writable() const;

    block& owner_;
    const settings options_;
    stalls stalls_;
    address_channel writes_, reads_;
    pin write_data_ready_, write_response_valid_, write_response_, write_id_;
    pin read_data_valid_, read_data_, read_response_, read_last_, read_id_;
    const pin write_data_valid_, write_data_, strobe_, write_last_, write_response_ready_;
    const pin read_data_ready_;
    const unsigned bus_bytes_;
    memory_answers answers_;  // longer than the transactions
    transactions open_reads_, open_writes_;
    transaction* shown_read_ = nullptr;  // on the channel
    transaction* shown_write_ = nullptr;
    std::uint64_t waited_ = 0;  // cycles for the design
};

}  // namespace trn::rtl
