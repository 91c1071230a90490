// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/send_request.h"

#include <array>

namespace trn::efa_transport {

using efa_objects::limits;
using efa_objects::memory_access;
using efa_objects::memory_walk;
using efa_objects::queue_pair;
namespace io = efa_io_regs;
using io::reg;

namespace {

/// Decodes the part of a request that depends on its operation.
struct remote_decoder {
    const work_request& source;
    const queue_pair& qp;
    const efa_objects::objects& objects;
    const send_limits& permitted;
    send_request& request;
    const work_request_words& words = source.words;

    std::optional<status> decode() {
        if (request.op > operation::rdma_write) return status::local_unsupported;
        const auto* const handle = objects.address_handles.find(request.address_handle);
        if (handle == nullptr || handle->domain != qp.domain) return status::local_bad_ah;
        // Packets to a GID that no card has are lost: no port has the last number.
        request.card = efa_objects::port_of(handle->destination).value_or(0xffff);
        return request.op == operation::send ? decode_send() : decode_rdma();
    }

    std::optional<status> decode_send() {
        if (words.get(io::work_request::is_inline) != 0)
            return decode_inline(work_request_words::byte(reg::element_length));
        const auto count = words.get(io::destination::length);
        if (count > limits::send_elements) return status::local_unsupported;
        const std::array<memory_walk::element, limits::send_elements> elements{
            {{words.get(io::element_key::lkey), words.get_wide(reg::element_address_lo),
              words.get(reg::element_length)},
             second_element()}};
        request.local =
            memory_walk(qp.domain, memory_access::local_read, std::span(elements).first(count));
        if (request.local.length() > permitted.mtu) return status::local_bad_length;
        return take_local();
    }

    std::optional<status> decode_rdma() {
        const auto count = words.get(io::destination::length);
        const bool reads = request.op == operation::rdma_read;
        // Only work requests of 128 bytes have room for inline data of a write.
        const bool has_data = words.get(io::work_request::is_inline) != 0;
        const bool may_have_data = !reads && is_long();
        if (request.datagram || !(reads ? permitted.rdma_read : permitted.rdma_write) ||
            (reads && request.has_immediate) || (has_data && !may_have_data) ||
            (!has_data && count > limits::rdma_elements))
            return status::local_unsupported;
        request.rkey = words.get(reg::remote_key);
        request.remote = words.get_wide(reg::remote_address_lo);
        if (has_data) {
            if (count != words.get(reg::remote_length)) return status::local_bad_length;
            return decode_inline(work_request_words::byte(reg::second_length));
        }
        const std::array<memory_walk::element, limits::rdma_elements> elements{{second_element()}};
        request.local =
            memory_walk(qp.domain, reads ? memory_access::local_write : memory_access::local_read,
                        std::span(elements).first(count));
        if (request.local.length() > limits::max_rdma ||
            request.local.length() != words.get(reg::remote_length))
            return status::local_bad_length;
        return take_local();
    }

    /// Inline data begins at byte `offset` of the work request.
    std::optional<status> decode_inline(std::size_t offset) {
        const auto count = words.get(io::destination::length);
        if (count > (is_long() ? limits::long_inline_bytes : limits::inline_bytes))
            return status::local_bad_length;
        const auto data = source.bytes.subspan(offset, count);
        request.inlined.assign(data.begin(), data.end());
        request.length = count;
        return std::nullopt;
    }

    std::optional<status> take_local() {
        request.length = static_cast<std::uint32_t>(request.local.length());
        if (!request.local.permitted(objects)) return status::local_bad_lkey;
        return std::nullopt;
    }

    memory_walk::element second_element() const {
        return {words.get(io::second_key::lkey), words.get_wide(reg::second_address_lo),
                words.get(reg::second_length)};
    }

    bool is_long() const { return qp.work_request_bytes == limits::long_work_request_bytes; }
};

}  // namespace

void send_request::keep_lent() {
    for (const auto& each : lent)
        if (const auto data = each.lock()) data->packet.keep_lent();
    lent.clear();
}

void decode(const work_request_words& words, const queue_pair& qp, send_request& request) {
    namespace wr = io::work_request;
    request.id = static_cast<std::uint16_t>(words.get(wr::id));
    request.wants_completion = words.get(wr::completion) != 0;
    request.datagram = qp.type == efa_objects::transport::ud;
    request.has_immediate = words.get(wr::has_immediate) != 0;
    request.immediate = words.get(reg::immediate);
    request.destination_qp = static_cast<std::uint16_t>(words.get(io::destination::qp));
    request.qkey = words.get(reg::qkey);
    request.address_handle = static_cast<std::uint16_t>(words.get(io::address_handle::number));
    request.op = static_cast<operation>(words.get(wr::operation));
}

std::optional<status> decode_remote(const work_request& source, const queue_pair& qp,
                                    const efa_objects::objects& objects,
                                    const send_limits& permitted, send_request& request) {
    return remote_decoder{source, qp, objects, permitted, request}.decode();
}

}  // namespace trn::efa_transport
