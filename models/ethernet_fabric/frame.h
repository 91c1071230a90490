// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <tlm>
#include <utility>
#include <vector>

#include "platform/framework/kernel/trace.h"

namespace trn::ethernet {

using address = std::uint16_t;  ///< of a card: the port of the fabric that it is in

/// One packet between cards; cards derive theirs from it. The layout on the wire is not published
/// and not modelled.
struct frame {
    static constexpr std::uint64_t overhead = 90;  ///< bytes: Ethernet, IP, UDP and SRD headers

    bool is_hello = false;  ///< of the fabric, at the start: you are `destination`
    address source = 0, destination = 0;
    std::vector<std::uint8_t> data;
    trace::operation of = 0;  ///< of which the requester's work request is a part

    virtual ~frame() = default;
};

/// Payload extension that carries a frame from one plug to the next; the receiver takes it.
struct carrier : tlm::tlm_extension<carrier> {
    std::unique_ptr<frame> carried;

    explicit carrier(std::unique_ptr<frame> f) : carried(std::move(f)) {}
    tlm::tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm::tlm_extension_base&) override {}
};

}  // namespace trn::ethernet
