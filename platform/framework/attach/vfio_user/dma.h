// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "platform/framework/attach/vfio_user/stream.h"
#include "platform/framework/tlm/function_port.h"

namespace trn::vfio_user {

/// Requests of the server to its client: reads and writes of client memory without a descriptor. No
/// function waits: a request is posted, and its response arrives later as a message.
///
/// Two layouts of the data exist (dma_access). Before the first transfer, a probe determines the
/// client's layout: a read whose count is 1 as a 32-bit number and far too large as a 64-bit
/// number, so that only a client with 32-bit counts responds with data.
class dma_messages : public host_messages {
public:
    static constexpr std::size_t max_outstanding = 64;
    /// Limit of outstanding bytes; a single larger transfer is allowed. Less than the buffer of a
    /// socket, so that a client blocked in a write cannot block the server.
    static constexpr std::size_t max_outstanding_bytes = 128 * 1024;

    /// `send` is called after a message has been posted on `out`; `room` when a refused transfer
    /// may be retried.
    dma_messages(stream& out, std::function<void()> send, std::function<void()> room)
        : out_(out), send_(std::move(send)), room_(std::move(room)) {}

    /// Sets the client's limit per message, from its version message.
    void limit_transfer(std::uint32_t bytes) { max_transfer_ = bytes; }
    bool read(std::uint64_t iova, std::uint32_t size, answer answered) override;
    bool write(std::uint64_t iova, std::span<const std::uint8_t> bytes) override;
    /// Processes a reply of the client; throws protocol_error when it matches no request.
    void answered(const message& reply);
    std::uint64_t refused() const { return refused_; }
    /// Whether the client has not answered all messages.
    bool outstanding() const { return transfers_ != 0; }

private:
    enum class layout { unknown, probing, data_at_28, data_at_32 };
    struct transfer {
        std::uint64_t iova;
        std::uint32_t size;  // size of the whole transfer
        bool is_write;
        std::vector<std::uint8_t> data{};  // data to write, or data read so far
        answer done{};                     // for reads
    };
    struct question {
        std::uint16_t id;
        std::uint32_t size;
        std::shared_ptr<transfer> part_of;  // null for the probe
    };

    bool accept(std::shared_ptr<transfer> added);
    void begin(const std::shared_ptr<transfer>& begun);
    void ask(const std::shared_ptr<transfer>& asked, std::uint32_t offset, std::uint32_t size);
    void probe(std::uint64_t iova);
    std::span<std::uint8_t> post(command request, std::uint64_t iova, std::uint64_t count,
                                 std::size_t data);
    void read_answered(const question& asked, const message& reply);
    void finish(const transfer& ended);
    /// Offset of the data in a message's payload.
    std::size_t data_offset() const {
        return (layout_ == layout::data_at_28 ? dma_data_offset_qemu_10 : dma_data_offset) -
               sizeof(header);
    }

    stream& out_;
    std::function<void()> send_, room_;
    std::uint32_t max_transfer_ = max_data_transfer;
    layout layout_ = layout::unknown;
    std::deque<std::shared_ptr<transfer>> waiting_;  // until the layout is known
    std::vector<question> questions_;
    std::size_t bytes_ = 0;  // total of unfinished transfers
    std::size_t transfers_ = 0;
    bool was_full_ = false;
    std::uint16_t last_id_ = 0;
    std::uint64_t refused_ = 0;
};

}  // namespace trn::vfio_user
