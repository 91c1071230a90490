// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "platform/framework/netlist/kinds/model_refusal.h"
#include "platform/framework/rtl/block.h"
#include "platform/framework/tlm/irq.h"

namespace trn::rtl {

/// An output of the design as a line, with its level after each edge.
class line_out final : public adapter {
public:
    irq_out line;

    /// `name`: of the line on boards.
    line_out(block& owner, const char* name, const std::string& port)
        : line(name), pin_(owner.output(port)) {
        owner.join(*this);
    }
    void settled() override { line.set(pin_.is_high()); }

private:
    const pin pin_;
};

/// Lines of a board as bits of an input of the design. A change arrives at the next edge.
class line_in final : public adapter {
public:
    irq_in line;

    line_in(block& owner, const char* name, const std::string& port)
        : line(name, owner.input(port).bits(),
               [this](unsigned number, bool level) { change(number, level); }),
          owner_(owner),
          pin_(owner.input(port)) {
        if (pin_.bits() > 64)
            throw model_refusal(owner,
                                "the port '" + port + "' of the top module has more than 64 bits");
        owner.join(*this);
    }
    void drive() override {
        if (changed_ < sc_core::sc_time_stamp()) earlier_ = levels_;
        if (earlier_ != driven_) pin_.set(driven_ = earlier_);
    }
    void reset() override { pin_.set(driven_ = earlier_ = levels_); }
    bool is_idle() const override { return levels_ == driven_ && earlier_ == driven_; }

private:
    void change(unsigned number, bool level) {
        if (changed_ < sc_core::sc_time_stamp()) earlier_ = levels_;
        const std::uint64_t mask = std::uint64_t{1} << number;
        levels_ = level ? levels_ | mask : levels_ & ~mask;
        changed_ = sc_core::sc_time_stamp();
        owner_.wake(changed_);
    }

    block& owner_;
    pin pin_;
    std::uint64_t levels_ = 0, earlier_ = 0, driven_ = 0;  // earlier_: before changed_
    sc_core::sc_time changed_;
};

}  // namespace trn::rtl
