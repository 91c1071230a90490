// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/cards/efa/objects/memory_walk.h"
#include "models/cards/efa/objects/objects.h"
#include "models/cards/efa/transport/srd_packet.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/registers/table_entry.h"

namespace trn::efa_transport {

/// A work request of a send queue, from its fetch to its completion.
struct send_request {
    std::uint32_t queue_pair = 0;  // handle
    std::uint64_t message = 0;
    std::uint16_t id = 0;
    operation op = operation::send;
    bool datagram = false, has_immediate = false, wants_completion = true;
    std::uint32_t immediate = 0;
    std::uint16_t address_handle = 0, destination_qp = 0;
    std::uint32_t qkey = 0;
    ethernet::address card = 0;
    std::uint32_t length = 0;
    std::uint32_t rkey = 0;
    std::uint64_t remote = 0;
    std::vector<std::uint8_t> inlined;
    efa_objects::memory_walk local;

    std::vector<std::weak_ptr<srd_packet::lent_data>> lent;  // of packets that may be in flight
    std::uint32_t packets = 0;
    std::uint32_t next = 0;             // next packet to send for the first time
    std::uint32_t left = 0;             // packets not done
    std::uint32_t furthest = 0;         // highest packet that is done
    std::uint32_t refusals = 0;         // number of receiver-not-ready responses
    bool is_probe = false;              // asks for all that wait for the receiver
    std::optional<std::uint32_t> slot;  // of a write of several packets with immediate data
    trace::slice slice = {};

    std::uint32_t flying() const { return next + left - packets; }  // sent, but not done
    bool takes_receive() const { return op == operation::send || has_immediate; }
    /// Copies the data of packets in flight: the program may change its memory from now on.
    void keep_lent();
};

/// The words of the first 64 bytes of a work request.
using work_request_words = table_entry<efa_io_regs::rows>;

/// A work request in its ring.
struct work_request {
    work_request_words words;
    std::span<const std::uint8_t> bytes;  // all of them
};

/// What requests a card permits.
struct send_limits {
    std::uint32_t mtu;  ///< bytes of a send
    bool rdma_read, rdma_write;
};

/// Decodes the words that every operation has.
void decode(const work_request_words& words, const efa_objects::queue_pair& qp,
            send_request& request);
/// Decodes a send or an RDMA request. Returns the status if it fails at once, otherwise nothing.
std::optional<status> decode_remote(const work_request& source, const efa_objects::queue_pair& qp,
                                    const efa_objects::objects& objects,
                                    const send_limits& permitted, send_request& request);

}  // namespace trn::efa_transport
