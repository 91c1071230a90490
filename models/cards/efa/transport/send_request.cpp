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
class remote_decoder {
public:
    remote_decoder(const work_request& source, const queue_pair& qp,
                   const efa_objects::objects& objects, const send_limits& permitted,
                   send_request& request)
        : source_(source),
          words_(source.words),
          qp_(qp),
          objects_(objects),
          permitted_(permitted),
          request_(request) {}

    std::optional<status> decode() {
        if (request_.op > operation::rdma_write) return status::local_unsupported;
        const auto* const handle = objects_.address_handles.find(request_.address_handle);
        if (handle == nullptr || handle->domain != qp_.domain) return status::local_bad_ah;
        // Packets to a GID that no card has are lost: no port has the last number.
        request_.card = efa_objects::port_of(handle->destination).value_or(0xffff);
        return request_.op == operation::send ? decode_send() : decode_rdma();
    }

private:
    std::optional<status> decode_send() {
        if (words_.get(io::work_request::is_inline) != 0)
            return decode_inline(work_request_words::byte(reg::element_length));
        const auto count = words_.get(io::destination::length);
        if (count > limits::send_elements) return status::local_unsupported;
        const std::array<memory_walk::element, limits::send_elements> elements{
            {{words_.get(io::element_key::lkey), words_.get_wide(reg::element_address_lo),
              words_.get(reg::element_length)},
             second_element()}};
        request_.local =
            memory_walk(qp_.domain, memory_access::local_read, std::span(elements).first(count));
        if (request_.local.length() > permitted_.mtu) return status::local_bad_length;
        return take_local();
    }

    std::optional<status> decode_rdma() {
        const auto count = words_.get(io::destination::length);
        const bool reads = request_.op == operation::rdma_read;
        // Only work requests of 128 bytes have room for inline data of a write.
        const bool has_data = words_.get(io::work_request::is_inline) != 0;
        const bool may_have_data = !reads && is_long();
        if (request_.datagram || !(reads ? permitted_.rdma_read : permitted_.rdma_write) ||
            (reads && request_.has_immediate) || (has_data && !may_have_data) ||
            (!has_data && count > limits::rdma_elements))
            return status::local_unsupported;
        request_.rkey = words_.get(reg::remote_key);
        request_.remote = words_.get_wide(reg::remote_address_lo);
        if (has_data) {
            if (count != words_.get(reg::remote_length)) return status::local_bad_length;
            return decode_inline(work_request_words::byte(reg::second_length));
        }
        const std::array<memory_walk::element, limits::rdma_elements> elements{{second_element()}};
        request_.local =
            memory_walk(qp_.domain, reads ? memory_access::local_write : memory_access::local_read,
                        std::span(elements).first(count));
        if (request_.local.length() > limits::max_rdma ||
            request_.local.length() != words_.get(reg::remote_length))
            return status::local_bad_length;
        return take_local();
    }

    /// Inline data begins at byte `offset` of the work request.
    std::optional<status> decode_inline(std::size_t offset) {
        const auto count = words_.get(io::destination::length);
        if (count > (is_long() ? limits::long_inline_bytes : limits::inline_bytes))
            return status::local_bad_length;
        const auto data = source_.bytes.subspan(offset, count);
        request_.inlined.assign(data.begin(), data.end());
        request_.length = count;
        return std::nullopt;
    }

    std::optional<status> take_local() {
        request_.length = static_cast<std::uint32_t>(request_.local.length());
        if (!request_.local.permitted(objects_)) return status::local_bad_lkey;
        return std::nullopt;
    }

    memory_walk::element second_element() const {
        return {words_.get(io::second_key::lkey), words_.get_wide(reg::second_address_lo),
                words_.get(reg::second_length)};
    }

    bool is_long() const { return qp_.work_request_bytes == limits::long_work_request_bytes; }

    const work_request& source_;
    const work_request_words& words_;
    const queue_pair& qp_;
    const efa_objects::objects& objects_;
    const send_limits& permitted_;
    send_request& request_;
};

}  // namespace

void send_request::keep_lent() {
    for (const auto& each : lent)
        if (const auto still = each.lock()) still->packet.keep_lent();
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
    return remote_decoder(source, qp, objects, permitted, request).decode();
}

}  // namespace trn::efa_transport
