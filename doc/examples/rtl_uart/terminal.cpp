// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <algorithm>

#include "platform/framework/log.h"

namespace example {

namespace {

constexpr unsigned frame = 10;     // bits
constexpr unsigned stop = 1 << 9;  // bit of a frame

}  // namespace

terminal::terminal(trn::rtl::block& owner, std::uint64_t clocks_per_bit, std::uint64_t type_ahead)
    : owner_(owner),
      clocks_per_bit_(clocks_per_bit),
      type_ahead_(type_ahead),
      out_(owner.output("txd", 1)),
      held_(owner.output("rts_n", 1)),
      in_(owner.input("rxd", 1)) {
    owner.join(*this);
}

std::size_t terminal::type(std::string_view characters) {
    const std::size_t taken = std::min<std::size_t>(characters.size(), type_ahead_ - typed_.size());
    typed_.insert(typed_.end(), characters.begin(),
                  characters.begin() + static_cast<std::ptrdiff_t>(taken));
    owner_.wake(sc_core::sc_time_stamp());
    return taken;
}

void terminal::sample() {
    if (received_ == 0) {
        if (out_.is_high()) return;
        received_ = 1;
        character_ = 0;
        wait_ = clocks_per_bit_ + clocks_per_bit_ / 2;
    }
    if (--wait_ == 0) receive();
}

/// In the middle of a bit after the start bit.
void terminal::receive() {
    if (out_.is_high()) character_ |= 1u << received_;
    wait_ = clocks_per_bit_;
    if (++received_ < frame) return;
    received_ = 0;
    print();
}

void terminal::print() {
    if ((character_ & stop) == 0)
        trn::log::guest_warn(owner_.name(),
                             "the terminal has no stop bit after character {:#x}: "
                             "the UART's rate is another one",
                             character_ >> 1 & 0xff);
    const char c = static_cast<char>(character_ >> 1);
    for (const auto& sink : sinks_) sink(std::string_view(&c, 1));
}

void terminal::drive() {
    if (sent_ > 0 && --send_wait_ > 0) return;
    if (sent_ == frame) sent_ = 0;
    if (sent_ == 0) {
        if (!can_send()) return in_.set(1);
        sending_ = static_cast<unsigned char>(typed_.front()) << 1 | stop;
        typed_.pop_front();
    }
    in_.set(sending_ >> sent_++ & 1);
    send_wait_ = clocks_per_bit_;
}

void terminal::reset() {
    received_ = sent_ = 0;
    typed_.clear();
    in_.set(1);
}

}  // namespace example
