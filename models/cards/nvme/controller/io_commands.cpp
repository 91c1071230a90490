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

void io_commands::begin(job& task) {
    const std::uint32_t name = task.request.words.get(words::reg::namespace_);
    const bool all = task.request.opcode() == words::nvm::opcode_flush && name == all_namespaces;
    if (name != the_namespace && !all) return task.fail(status::invalid_namespace);
    switch (task.request.opcode()) {
    case words::nvm::opcode_flush:
        task.after = content_.time_of_flush();
        return content_.flush();
    case words::nvm::opcode_write:
        return write(task);
    case words::nvm::opcode_read:
        return read(task);
    case words::nvm::opcode_write_zeroes:
        return write_zeroes(task);
    case words::nvm::opcode_dataset_management:
        task.moves = job::data::from_host;
        task.length = (task.request.words.get(words::ranges::count) + 1) * range_bytes;
        task.bytes.resize(task.length);
        return;
    default:
        task.outcome = status::invalid_opcode;
    }
}

io_commands::range io_commands::blocks_of(job& task) const {
    const std::uint64_t first = task.request.words.get_wide(words::reg::block_lo);
    const std::uint64_t count = std::uint64_t{task.request.words.get(words::blocks::count)} + 1;
    if (task.request.words.get(words::blocks::protection) != 0)
        task.outcome = status::invalid_field;
    else if (first >= blocks() || count > blocks() - first)
        task.outcome = status::block_out_of_range;
    if (task.outcome != status::success) return {};
    return {first * block_bytes_, count * block_bytes_};
}

bool io_commands::is_durable(const job& task) const {
    return task.request.words.get(words::blocks::force_access) != 0 || !settings_.write_cache();
}

void io_commands::read(job& task) {
    const range blocks = blocks_of(task);
    if (task.outcome == status::success && blocks.length > max_transfer)
        task.outcome = status::invalid_field;
    if (task.outcome != status::success) return;
    task.after = content_.time_of_read(blocks.length);
    if (!content_.is_readable(blocks.offset, blocks.length))
        return task.fail(status::unrecovered_read_error);
    if (is_durable(task)) content_.flush(blocks.offset, blocks.length);
    task.moves = job::data::to_host;
    task.medium = blocks.offset;
    task.length = static_cast<std::uint32_t>(blocks.length);
}

void io_commands::write(job& task) {
    const range blocks = blocks_of(task);
    if (task.outcome == status::success && blocks.length > max_transfer)
        task.outcome = status::invalid_field;
    if (task.outcome != status::success) return;
    task.moves = job::data::from_host;
    task.medium = blocks.offset;
    task.length = static_cast<std::uint32_t>(blocks.length);
}

void io_commands::write_zeroes(job& task) {
    const range blocks = blocks_of(task);
    if (task.outcome != status::success) return;
    task.clears.push_back(blocks);
    clear(task);
}

void io_commands::moved(job& task) {
    if (task.moves == job::data::to_host) return health_.count_read(task.length);
    if (!task.medium) return deallocate(task);
    health_.count_write(task.length);
    task.after = content_.time_of_write(task.length);
    if (is_durable(task)) content_.flush(*task.medium, task.length);
}

/// Clears ranges for deallocate; other attributes are hints without effect. All ranges are checked
/// before the first is cleared.
void io_commands::deallocate(job& task) {
    task.after = content_.time_of_write(0);
    if (task.request.words.get(words::ranges_use::deallocate) == 0) return;
    std::vector<range> ranges;
    for (std::size_t offset = 0; offset < task.bytes.size(); offset += range_bytes) {
        std::uint32_t count = 0;
        std::uint64_t first = 0;
        std::memcpy(&count, &task.bytes[offset + entry::byte(words::reg::range_blocks)], 4);
        std::memcpy(&first, &task.bytes[offset + entry::byte(words::reg::range_block_lo)], 8);
        if (first > blocks() || count > blocks() - first)
            return task.fail(status::block_out_of_range);
        if (count != 0) ranges.push_back({first * block_bytes_, count * block_bytes_});
    }
    task.clears = std::move(ranges);
    clear(task);
}

/// Takes the time of a short write, or of the bytes that were written because the image's file
/// system makes no holes; then the rest follows.
void io_commands::clear(job& task) {
    const sc_core::sc_time min_step(100, sc_core::SC_US);  // other work goes on with any timing
    task.after = content_.time_of_write(0);
    while (!task.clears.empty()) {
        range& next = task.clears.back();
        const auto done = content_.clear(next.offset, next.length);
        if (!done) {
            task.outcome = status::write_fault;
            task.clears.clear();
            return;
        }
        next.offset += *done;
        next.length -= *done;
        if (next.length != 0) {
            task.after = std::max(content_.time_of_write(*done), min_step);
            return;
        }
        task.clears.pop_back();
    }
}

}  // namespace trn::nvme
