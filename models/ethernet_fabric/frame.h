// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <tlm>
#include <utility>
#include <vector>

#include "platform/framework/kernel/trace.h"

namespace trn::ethernet {

using address = std::uint16_t;  ///< address of a card: the number of its port

/// Base of the packets between cards, which derive their own packets from it. The real format is
/// not published and not modelled.
struct frame {
    static constexpr std::uint64_t overhead = 90;  ///< bytes of Ethernet, IP, UDP and SRD headers

    bool is_hello = false;  ///< from the fabric at the start: `destination` is the receiver
    address source = 0, destination = 0;
    std::vector<std::uint8_t> data;
    trace::operation of = 0;  ///< operation of the requester's work request

    virtual ~frame() = default;
};

/// Payload extension that carries a frame between plugs; the receiver takes ownership of it.
struct carrier : tlm::tlm_extension<carrier> {
    std::unique_ptr<frame> carried;

    explicit carrier(std::unique_ptr<frame> f) : carried(std::move(f)) {}
    tlm::tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm::tlm_extension_base&) override {}
};

}  // namespace trn::ethernet
