// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>

#include "platform/framework/bridges/deferred_calls.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/rtl/block.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn::rtl {

/// Base of adapters that make accesses of a TLM socket into transactions of a bus of the design.
/// Accesses are deferred until the design has answered, and sent in the order of their times.
class bus_target : public adapter {
public:
    target_socket<bus_target> in;

    std::optional<sc_core::sc_time> due() const override;
    std::optional<std::string> describe_wait() const override;

protected:
    using call = deferred_calls::call;

    /// `registers`: of the design, for tools, and for the response to an access that it refuses.
    bus_target(block& owner, const char* name, const register_table* registers);

    /// Why an access cannot be made on this bus: nothing, or its response.
    virtual tlm::tlm_response_status refusal(const tlm::tlm_generic_payload& payload) const = 0;
    /// An access of software, not of tools, is refused.
    virtual void tell_refused(const tlm::tlm_generic_payload&) {}
    /// For reports: "a read of 4 bytes at 0x10 (APB)".
    virtual std::string describe(const tlm::tlm_generic_payload& payload) const = 0;
    /// Reads in block::try_out(). False: the design does not answer, or with an error.
    virtual bool try_read(std::uint64_t address, std::uint8_t* bytes, unsigned length) = 0;

    /// The next access that is due at this edge, which leaves the queue; nullptr if there is none.
    call* next();
    bool has_due() const;
    /// The design has answered at this edge.
    void finish(call& answered, tlm::tlm_response_status response);
    /// All that have not been sent.
    void fail_queued();
    /// The response to an access that the design has answered with an error.
    tlm::tlm_response_status error_of(const tlm::tlm_generic_payload& payload) const;
    /// Counts a cycle in which the design has not answered. True: too many; the block hangs.
    bool is_over_time(std::uint64_t& waited, const char* handshake, const call& waiting);

    block& owner_;

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    void enqueue(call& added);
    void view_registers(const register_table& registers);

    deferred_calls calls_;
    std::deque<call*> queue_;  // by start
    const register_table* const registers_;
    std::optional<register_bank> view_;
};

/// As above for buses of registers: each access is one word of the bus.
class word_target : public bus_target {
protected:
    word_target(block& owner, const char* name, const register_table* registers, unsigned width,
                const char* bus)
        : bus_target(owner, name, registers), width_(width), bus_(bus) {}

    tlm::tlm_response_status refusal(const tlm::tlm_generic_payload& payload) const final;
    std::string describe(const tlm::tlm_generic_payload& payload) const final;
    void tell_refused(const tlm::tlm_generic_payload& payload) final;

    const unsigned width_;  // bytes

private:
    const char* const bus_;
    bool has_told_ = false;
};

}  // namespace trn::rtl
