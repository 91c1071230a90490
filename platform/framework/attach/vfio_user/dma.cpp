// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/vfio_user/dma.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace trn::vfio_user {

bool dma_messages::read(std::uint64_t iova, std::uint32_t size, answer answered) {
    return accept(std::make_shared<transfer>(
        transfer{.iova = iova, .size = size, .is_write = false, .done = std::move(answered)}));
}

bool dma_messages::write(std::uint64_t iova, std::span<const std::uint8_t> bytes) {
    return accept(
        std::make_shared<transfer>(transfer{.iova = iova,
                                            .size = static_cast<std::uint32_t>(bytes.size()),
                                            .is_write = true,
                                            .data = {bytes.begin(), bytes.end()}}));
}

bool dma_messages::accept(std::shared_ptr<transfer> added) {
    const bool alone = transfers_ == 0;
    if (!alone && (transfers_ >= max_outstanding || bytes_ + added->size > max_outstanding_bytes)) {
        was_full_ = true;
        return false;
    }
    ++transfers_;
    bytes_ += added->size;
    if (layout_ == layout::unknown || layout_ == layout::probing) {
        if (layout_ == layout::unknown) probe(added->iova);
        waiting_.push_back(std::move(added));
    } else {
        begin(added);
    }
    send_();
    return true;
}

void dma_messages::begin(const std::shared_ptr<transfer>& transfer) {
    if (transfer->is_write) {
        for (std::uint32_t done = 0; done < transfer->size;) {
            const std::uint32_t here = std::min(max_transfer_, transfer->size - done);
            ask(transfer, done, here);
            done += here;
        }
    } else {
        ask(transfer, 0, std::min(max_transfer_, transfer->size));
    }
}

void dma_messages::ask(const std::shared_ptr<transfer>& transfer, std::uint32_t offset,
                       std::uint32_t size) {
    if (transfer->is_write) {
        const auto room = post(command::dma_write, transfer->iova + offset, size, size);
        std::memcpy(&room[data_offset()], &transfer->data[offset], size);
    } else {
        post(command::dma_read, transfer->iova + offset, size, 0);
    }
    questions_.push_back({.id = last_id_, .size = size, .part_of = transfer});
}

void dma_messages::probe(std::uint64_t iova) {
    post(command::dma_read, iova, std::uint64_t{1} << 32 | 1, 0);
    questions_.push_back({.id = last_id_, .size = 1, .part_of = nullptr});
    layout_ = layout::probing;
}

std::span<std::uint8_t> dma_messages::post(command request, std::uint64_t iova, std::uint64_t count,
                                           std::size_t data) {
    const header head{
        .id = ++last_id_,
        .command = static_cast<std::uint16_t>(request),
        .size = static_cast<std::uint32_t>(sizeof(header) + sizeof(dma_access) + data),
        .flags = flag_request,
        .error = 0};
    const auto room = out_.post(head);
    const dma_access access{.iova = iova, .count = count};
    std::memcpy(room.data(), &access, sizeof access);
    return room;
}

void dma_messages::answered(const message& reply) {
    const auto found = std::ranges::find(questions_, reply.head.id, &question::id);
    if (found == questions_.end()) {
        throw protocol_error(
            fmt::format("a reply to message {} that was never sent", reply.head.id));
    }
    const question asked = std::move(*found);
    questions_.erase(found);
    const bool failed = (reply.head.flags & flag_error) != 0;
    if (asked.part_of == nullptr) {
        layout_ = failed ? layout::data_at_32 : layout::data_at_28;
        for (const auto& transfer : std::exchange(waiting_, {})) begin(transfer);
        return send_();
    }
    if (failed) ++refused_;
    if (!asked.part_of->is_write) return read_answered(asked, reply);
    const bool last = std::ranges::none_of(
        questions_, [&](const question& other) { return other.part_of == asked.part_of; });
    if (last) finish(*asked.part_of);
}

void dma_messages::read_answered(const question& asked, const message& reply) {
    transfer& whole = *asked.part_of;
    const bool failed =
        (reply.head.flags & flag_error) != 0 || reply.payload.size() < data_offset() + asked.size;
    if (failed) {
        whole.data.clear();
    } else {
        const auto data = reply.payload.subspan(data_offset(), asked.size);
        whole.data.insert(whole.data.end(), data.begin(), data.end());
        if (const auto done = static_cast<std::uint32_t>(whole.data.size()); done < whole.size) {
            ask(asked.part_of, done, std::min(max_transfer_, whole.size - done));
            return send_();
        }
    }
    finish(whole);
}

void dma_messages::finish(const transfer& ended) {
    --transfers_;
    bytes_ -= ended.size;
    if (ended.done) ended.done(ended.data);
    if (std::exchange(was_full_, false)) room_();
}

}  // namespace trn::vfio_user
