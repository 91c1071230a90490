// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "platform/framework/kernel/introspection.h"
#include "platform/framework/rtl/block.h"

namespace example {

/// The other end of a serial line: 8 data bits, no parity, one stop bit. Characters that the design
/// sends go to consoles, and typed ones to its receiver while RTS is low.
class terminal final : public trn::rtl::adapter {
public:
    /// `clocks_per_bit`: of the design's clock.
    terminal(trn::rtl::block& owner, std::uint64_t clocks_per_bit, std::uint64_t type_ahead);

    void add_sink(trn::console::sink added) { sinks_.push_back(std::move(added)); }
    std::size_t type(std::string_view characters);

    void sample() override;
    void drive() override;
    void reset() override;
    bool is_idle() const override { return received_ == 0 && sent_ == 0 && !can_send(); }

private:
    bool can_send() const { return !typed_.empty() && !held_.is_high(); }
    void receive();
    void print();

    trn::rtl::block& owner_;
    const std::uint64_t clocks_per_bit_;
    const std::uint64_t type_ahead_;
    const trn::rtl::pin out_, held_;
    trn::rtl::pin in_;
    std::vector<trn::console::sink> sinks_;
    std::deque<char> typed_;
    std::uint64_t wait_ = 0, send_wait_ = 0;  // clocks to the next bit
    unsigned received_ = 0, sent_ = 0;        // bits of the characters on the line
    unsigned character_ = 0, sending_ = 0;
};

}  // namespace example
