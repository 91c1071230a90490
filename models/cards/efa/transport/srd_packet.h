// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "models/cards/efa/objects/efa_io_regs.h"
#include "models/network/ethernet_fabric/frame.h"

namespace trn::efa_transport {

/// Status of a work request in its completion (EFA contract 12).
enum class status : std::uint8_t {
    ok = efa_io_regs::completion::status_ok,
    flushed = efa_io_regs::completion::status_flushed,
    local_unsupported = efa_io_regs::completion::status_local_unsupported,
    local_bad_ah = efa_io_regs::completion::status_local_bad_ah,
    local_bad_lkey = efa_io_regs::completion::status_local_bad_lkey,
    local_bad_length = efa_io_regs::completion::status_local_bad_length,
    remote_bad_address = efa_io_regs::completion::status_remote_bad_address,
    remote_abort = efa_io_regs::completion::status_remote_abort,
    remote_bad_qp = efa_io_regs::completion::status_remote_bad_qp,
    remote_not_ready = efa_io_regs::completion::status_remote_not_ready,
    remote_bad_length = efa_io_regs::completion::status_remote_bad_length,
    local_unresponsive_remote = efa_io_regs::completion::status_local_unresponsive_remote,
    remote_unknown_peer = efa_io_regs::completion::status_remote_unknown_peer,
    local_unreachable_remote = efa_io_regs::completion::status_local_unreachable_remote,
};

enum class operation : std::uint8_t {
    send = efa_io_regs::work_request::operation_send,
    rdma_read = efa_io_regs::work_request::operation_rdma_read,
    rdma_write = efa_io_regs::work_request::operation_rdma_write,
    fast_register = efa_io_regs::work_request::operation_fast_register,
    fast_invalidate = efa_io_regs::work_request::operation_fast_invalidate,
};

/// A packet between EFA cards, or a train of consecutive packets of an RDMA request. The layout on
/// the wire is not published and not modelled.
struct srd_packet : ethernet::frame {
    enum class kind : std::uint8_t {
        send,           ///< data of a send; SRD acknowledges it, UD does not
        write,          ///< data for memory of the receiver
        read_request,   ///< requests data of the receiver's memory
        read_response,  ///< the requested data
        response,       ///< acknowledges packets of the first three kinds; `result`: their status
    };

    kind type = kind::send;
    bool datagram = false;  ///< UD
    bool has_immediate = false;
    std::uint16_t source_qp = 0, destination_qp = 0;
    std::uint32_t qkey = 0;
    std::uint64_t message = 0;     ///< number of the card's work request; never reused
    std::uint32_t packets = 1;     ///< count in the message
    std::uint32_t connection = 0;  ///< id of the connection from the requester's card
    std::uint64_t sequence = 0;    ///< number of the first packet in the connection
    std::uint64_t oldest = 0;      ///< number of the oldest packet that is not answered
    std::uint32_t slot = 0;        ///< of a write with immediate data: unique until it ends
    sc_core::sc_time sent;         ///< absolute: when the packet left; its answer returns it
    std::uint32_t answered = 0;    ///< of a response: packets from `sequence` on that it answers
    std::uint8_t missing = 0;      ///< bit i: except packet `sequence` + i
    std::uint32_t immediate = 0;
    std::uint32_t rkey = 0;
    std::uint64_t address = 0;  ///< virtual address of this train's data at the receiver
    std::uint32_t offset = 0;   ///< offset of this train's data in the message
    std::uint32_t bytes = 0;    ///< size of this train's data, sent or requested
    std::uint32_t total = 0;    ///< bytes of the message
    status result = status::ok;

    /// Data in the memory of the sender's server, in place of the content of `data`.
    struct lent_data {
        const std::uint8_t* bytes;
        srd_packet& packet;  ///< the packet that has the data
    };
    std::shared_ptr<lent_data> lent;

    /// Whether the packet takes effect once: it has a number in its connection.
    bool is_numbered() const {
        return !datagram && type != kind::read_response && type != kind::response;
    }

    const std::uint8_t* content() const { return lent ? lent->bytes : data.data(); }
    void lend(const std::uint8_t* bytes) {
        lent = std::make_shared<lent_data>(lent_data{bytes, *this});
    }
    /// Copies lent data, because the sender's memory may change from now on.
    void keep_lent() {
        std::memcpy(data.data(), lent->bytes, data.size());
        lent.reset();
    }

    /// Resizes the data to `size` bytes with undefined content.
    void make_room(std::uint32_t size) { data.resize(size, boost::container::default_init); }
    /// Empties the packet, but keeps its memory.
    void clear() {
        auto kept = std::move(data);
        kept.clear();
        *this = srd_packet();
        data = std::move(kept);
    }
    void swap_ends() {
        std::swap(source, destination);
        std::swap(source_qp, destination_qp);
    }
    /// Turns a received train into its response, which is one packet.
    void answer(status outcome) {
        swap_ends();
        lent.reset();
        data.clear();
        type = kind::response;
        result = outcome;
        answered = std::exchange(train, 1);
        missing = std::exchange(lost, std::uint8_t{0});
    }
};

}  // namespace trn::efa_transport
