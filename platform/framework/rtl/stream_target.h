// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "platform/framework/rtl/bus_target.h"

namespace trn::rtl {

/// Writes of a socket as packets for a design that receives an AXI4-Stream (IHI 0051B). The address
/// has no meaning. A write ends when its last beat is accepted, which has TLAST.
class stream_target final : public bus_target {
public:
    /// `prefix`: of the ports: "s_axis_" for s_axis_tvalid. TLAST and TKEEP may be absent; without
    /// TKEEP, packets are whole beats.
    stream_target(block& owner, const char* name, const std::string& prefix);

    void sample() override;
    void drive() override;
    void reset() override;
    bool is_idle() const override { return current_ == nullptr && !has_due(); }

private:
    tlm::tlm_response_status refusal(const tlm::tlm_generic_payload& payload) const override;
    std::string describe(const tlm::tlm_generic_payload& payload) const override;
    bool try_read(std::uint64_t, std::uint8_t*, unsigned) override { return false; }

    pin valid_, data_, keep_, last_;
    const pin ready_;
    const unsigned beat_bytes_;
    call* current_ = nullptr;
    unsigned done_ = 0;  // bytes
    std::uint64_t waited_ = 0;
};

}  // namespace trn::rtl
