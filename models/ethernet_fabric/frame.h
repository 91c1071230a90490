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

/// One packet of EFA's reliable transport (SRD) between cards: header fields and data. The layout
/// on the wire is not published and not modelled. Cards with other headers derive from it.
struct frame {
    enum class kind : std::uint8_t {
        hello,     ///< of the fabric, at the start: you are `destination`
        write,     ///< data for a region of the receiver
        request,   ///< asks for data of a region of the receiver
        response,  ///< that data
        ack,       ///< of a write or a request
        refused,   ///< refusal: no such region, or no permission
    };
    static constexpr std::uint64_t overhead = 90;  ///< bytes: Ethernet, IP, UDP and SRD headers

    kind what = kind::write;
    address source = 0, destination = 0;
    std::uint16_t queue_pair = 0;  ///< of the requester
    std::uint32_t message = 0;     ///< of the queue pair: which work request
    std::uint32_t packet = 0;      ///< of the message
    std::uint16_t region = 0;      ///< of the receiver; writes and requests
    std::uint64_t at = 0;          ///< where the data goes or comes from; bus address
    std::uint64_t reply_at = 0;    ///< requests: where the requester wants the data
    /// Of a write with notification: the word that the receiver writes once it has all packets,
    /// and its address; 0 packets: none.
    struct {
        std::uint32_t packets = 0;
        std::uint32_t oldest = 0;  ///< message that the requester still has packets of
        std::uint16_t region = 0;
        std::uint64_t at = 0;
        std::uint32_t value = 0;
    } notice = {};
    std::uint32_t length = 0;        ///< bytes of data, or asked for
    std::vector<std::uint8_t> data;  ///< writes and responses
    trace::operation of = 0;         ///< of which the requester's work request is a part

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
