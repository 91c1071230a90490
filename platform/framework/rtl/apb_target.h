// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "platform/framework/rtl/bus_target.h"

namespace trn::rtl {

/// Accesses of a socket to a design that is an APB completer (AMBA APB, IHI 0024E).
class apb_target final : public word_target {
public:
    /// `prefix`: of the ports: "s_" for s_psel. PSTRB, PPROT, PREADY and PSLVERR may be absent.
    apb_target(block& owner, const char* name, const std::string& prefix,
               const register_table* registers = nullptr);

    void sample() override;
    void drive() override;
    void reset() override;
    bool is_idle() const override { return phase_ == phase::idle && !has_due(); }

private:
    enum class phase : std::uint8_t { idle, setup, access };

    bool try_read(std::uint64_t address, std::uint8_t* bytes, unsigned length) override;
    bool is_ready() const { return !ready_.is_connected() || ready_.is_high(); }
    void select(std::uint64_t address, bool is_write);
    void release();

    pin select_, enable_, write_, address_, write_data_, strobe_;
    const pin read_data_, ready_, error_;
    phase phase_ = phase::idle;
    call* current_ = nullptr;
    std::uint64_t waited_ = 0;
};

}  // namespace trn::rtl
