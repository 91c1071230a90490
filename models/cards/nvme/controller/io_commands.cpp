// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/controller/io_commands.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "models/cards/nvme/controller/identify.h"

namespace trn::nvme {

namespace words = nvme_entry_regs;

namespace {

constexpr std::uint32_t range_bytes = 16;

}  // namespace

void io_commands::begin(job& of) {
    const std::uint32_t name = of.request.words.get(words::reg::namespace_);
    const bool all = of.request.opcode() == words::nvm::opcode_flush && name == all_namespaces;
    if (name != the_namespace && !all) {
        of.how = status::invalid_namespace;
        return;
    }
    switch (of.request.opcode()) {
    case words::nvm::opcode_flush:
        of.after = content_.time_of_flush();
        return content_.flush();
    case words::nvm::opcode_write:
        return write(of);
    case words::nvm::opcode_read:
        return read(of);
    case words::nvm::opcode_write_zeroes:
        return write_zeroes(of);
    case words::nvm::opcode_dataset_management:
        of.moves = job::data::from_host;
        of.length = (of.request.words.get(words::ranges::count) + 1) * range_bytes;
        of.bytes.resize(of.length);
        return;
    default:
        of.how = status::invalid_opcode;
    }
}

io_commands::range io_commands::blocks_of(job& of) const {
    const std::uint64_t first = of.request.words.get_wide(words::reg::block_lo);
    const std::uint64_t count = std::uint64_t{of.request.words.get(words::blocks::count)} + 1;
    if (of.request.words.get(words::blocks::protection) != 0)
        of.how = status::invalid_field;
    else if (first >= blocks() || count > blocks() - first)
        of.how = status::block_out_of_range;
    if (of.how != status::success) return {};
    return {first * block_bytes_, count * block_bytes_};
}

bool io_commands::is_durable(const job& of) const {
    return of.request.words.get(words::blocks::force_access) != 0 || !settings_.write_cache();
}

void io_commands::read(job& of) {
    const range blocks = blocks_of(of);
    if (of.how == status::success && blocks.length > max_transfer) of.how = status::invalid_field;
    if (of.how != status::success) return;
    of.after = content_.time_of_read(blocks.length);
    if (!content_.is_readable(blocks.offset, blocks.length)) {
        of.how = status::unrecovered_read_error;
        return;
    }
    if (is_durable(of)) content_.flush(blocks.offset, blocks.length);
    of.moves = job::data::to_host;
    of.medium = blocks.offset;
    of.length = static_cast<std::uint32_t>(blocks.length);
}

void io_commands::write(job& of) {
    const range blocks = blocks_of(of);
    if (of.how == status::success && blocks.length > max_transfer) of.how = status::invalid_field;
    if (of.how != status::success) return;
    of.moves = job::data::from_host;
    of.medium = blocks.offset;
    of.length = static_cast<std::uint32_t>(blocks.length);
}

void io_commands::write_zeroes(job& of) {
    const range blocks = blocks_of(of);
    if (of.how != status::success) return;
    of.clears.push_back(blocks);
    clear(of);
}

void io_commands::moved(job& of) {
    if (of.moves == job::data::to_host) return health_.count_read(of.length);
    if (!of.medium) return deallocate(of);
    health_.count_write(of.length);
    of.after = content_.time_of_write(of.length);
    if (is_durable(of)) content_.flush(*of.medium, of.length);
}

/// Clears ranges for deallocate; other attributes are hints without effect. All ranges are checked
/// before the first is cleared.
void io_commands::deallocate(job& of) {
    of.after = content_.time_of_write(0);
    if (of.request.words.get(words::ranges_use::deallocate) == 0) return;
    const auto range_at = [&](std::size_t at) {
        std::uint32_t blocks = 0;
        std::uint64_t first = 0;
        std::memcpy(&blocks, &of.bytes[at + entry::byte(words::reg::range_blocks)], 4);
        std::memcpy(&first, &of.bytes[at + entry::byte(words::reg::range_block_lo)], 8);
        return range{first, blocks};
    };
    for (std::size_t at = 0; at < of.bytes.size(); at += range_bytes) {
        const auto [first, count] = range_at(at);
        if (first > blocks() || count > blocks() - first) {
            of.how = status::block_out_of_range;
            return;
        }
    }
    for (std::size_t at = 0; at < of.bytes.size(); at += range_bytes) {
        const auto [first, count] = range_at(at);
        if (count != 0) of.clears.push_back({first * block_bytes_, count * block_bytes_});
    }
    clear(of);
}

/// Takes the time of a short write, or of the bytes that were written because the image's file
/// system makes no holes; then the rest follows.
void io_commands::clear(job& of) {
    const sc_core::sc_time min_step(100, sc_core::SC_US);  // other work goes on with any timing
    of.after = content_.time_of_write(0);
    while (!of.clears.empty()) {
        range& next = of.clears.back();
        const auto done = content_.clear(next.offset, next.length);
        if (!done) {
            of.how = status::write_fault;
            of.clears.clear();
            return;
        }
        next.offset += *done;
        next.length -= *done;
        if (next.length != 0) {
            of.after = std::max(content_.time_of_write(*done), min_step);
            return;
        }
        of.clears.pop_back();
    }
}

}  // namespace trn::nvme
