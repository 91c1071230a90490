// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "platform/framework/rtl/bus_target.h"

namespace trn::rtl {

/// Accesses of a socket to a design that is an AXI4-Lite subordinate (IHI 0022H, part B): one at a
/// time, each of one word.
class axi_lite_target final : public word_target {
public:
    /// `prefix`: of the ports: "s_axi_" for s_axi_awvalid. AWPROT and ARPROT may be absent.
    axi_lite_target(block& owner, const char* name, const std::string& prefix,
                    const register_table* registers = nullptr);

    void sample() override;
    void drive() override;
    void reset() override;
    bool is_idle() const override { return current_ == nullptr && !has_due(); }

private:
    bool try_read(std::uint64_t address, std::uint8_t* bytes, unsigned length) override;
    void sample_write();
    void sample_read();
    void end(std::uint64_t response);
    const char* handshake() const;
    void begin();
    void set_idle();
    bool answers(const pin& handshake);

    pin write_address_, write_address_valid_, write_data_, strobe_, write_data_valid_,
        write_response_ready_;
    pin read_address_, read_address_valid_, read_data_ready_;
    const pin write_address_ready_, write_data_ready_, write_response_valid_, write_response_;
    const pin read_address_ready_, read_data_, read_response_, read_data_valid_;
    call* current_ = nullptr;
    bool is_address_taken_ = false, is_data_taken_ = false;  // of the current access
    std::uint64_t waited_ = 0;
};

}  // namespace trn::rtl
