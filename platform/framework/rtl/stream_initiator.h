// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/misuse/initiator.h"
#include "platform/framework/rtl/block.h"
#include "platform/framework/rtl/outgoing_access.h"
#include "platform/framework/rtl/stalls.h"

namespace trn::rtl {

/// Packets of a design that sends an AXI4-Stream, as writes through a socket: one for each packet,
/// or each 4 KiB of it. TREADY is low until a write has ended.
class stream_initiator final : public adapter, private blocking_initiator, private initiator {
public:
    struct settings {
        std::uint64_t address = 0;   ///< of the writes
        unsigned stall_percent = 0;  ///< cycles in which TREADY is low
    };

    tlm::tlm_initiator_socket<64> out;

    /// `prefix`: of the ports: "m_axis_" for m_axis_tvalid. TLAST and TKEEP may be absent; without
    /// TLAST each beat is a packet.
    stream_initiator(block& owner, const char* name, const std::string& prefix,
                     const settings& options);
    stream_initiator(block& owner, const char* name, const std::string& prefix)
        : stream_initiator(owner, name, prefix, settings()) {}

    void sample() override;
    void drive() override;
    void reset() override;
    bool is_idle() const override;
    std::optional<sc_core::sc_time> due() const override;

private:
    std::string describe() const override { return owner_.name(); }
    void take_beat();
    void end_write();

    block& owner_;
    const settings options_;
    stalls stalls_;
    pin ready_;
    const pin valid_, data_, keep_, last_;
    const unsigned beat_bytes_;
    memory_answers answers_;
    outgoing_access write_{answers_.event()};
    std::vector<std::uint8_t> packet_;
    bool is_writing_ = false, is_complete_ = false;
    bool has_told_ = false;
};

}  // namespace trn::rtl
