// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/media/medium.h"

#include <iterator>

#include "models/cards/nvme/media/image_file.h"
#include "models/cards/nvme/media/sparse_store.h"
#include "models/cards/nvme/media/unchanged_image.h"
#include "platform/framework/kernel/random.h"

namespace trn::nvme {

using sc_core::sc_time;

namespace {

std::unique_ptr<block_store> make_store(const medium::config& cfg) {
    if (cfg.image.empty()) return std::make_unique<sparse_store>();
    if (cfg.read_only_image) return std::make_unique<unchanged_image>(cfg.image, cfg.capacity);
    return std::make_unique<image_file>(cfg.image, cfg.capacity);
}

/// Duration from now on of an access that `rate` and `latency` determine.
sc_time duration(bandwidth_resource& rate, std::uint64_t bytes, const sc_time& latency) {
    if (timing() != timing_mode::contended) return sc_core::SC_ZERO_TIME;
    const sc_time now = sc_core::sc_time_stamp();
    return rate.reserve(bytes, now) - now + latency;
}

}  // namespace

medium::medium(const std::string& name, const config& cfg)
    : cfg_(cfg),
      store_(make_store(cfg)),
      cache_(*store_, cfg.capacity, cfg.write_cache, seed_for(name)),
      reads_({.bytes_per_second = cfg.read_rate, .latency = sc_core::SC_ZERO_TIME}),
      writes_({.bytes_per_second = cfg.write_rate, .latency = sc_core::SC_ZERO_TIME}) {}

bool medium::read(std::uint64_t offset, std::span<std::uint8_t> bytes) {
    return is_readable(offset, bytes.size()) && store_->read(offset, bytes);
}

bool medium::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    if (!cache_.about_to_write(offset, bytes.size()) || !store_->write(offset, bytes)) return false;
    mend(offset, bytes.size());
    return true;
}

/// Does not use the cache: its copies would cost as much as the range is long.
std::optional<std::uint64_t> medium::clear(std::uint64_t offset, std::uint64_t length) {
    const auto cleared = store_->clear(offset, length);
    if (!cleared || *cleared == 0) return cleared;
    cache_.flush(offset, *cleared);
    mend(offset, *cleared);
    return cleared;
}

// --- spoiled ranges ---

void medium::spoil(std::uint64_t offset, std::uint64_t length) {
    mend(offset, length);
    if (length != 0) spoiled_[offset] = offset + length;
}

bool medium::is_readable(std::uint64_t offset, std::uint64_t length) const {
    if (spoiled_.empty()) return true;
    const auto after = spoiled_.lower_bound(offset + length);
    return after == spoiled_.begin() || std::prev(after)->second <= offset;
}

void medium::mend(std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t end = offset + length;
    auto range = spoiled_.lower_bound(end);
    while (range != spoiled_.begin()) {
        --range;
        const auto [begin, finish] = *range;
        if (finish <= offset) return;
        range = spoiled_.erase(range);
        if (finish > end) range = spoiled_.emplace(end, finish).first;
        if (begin < offset) range = spoiled_.emplace(begin, offset).first;
    }
}

// --- time ---

sc_time medium::time_of_read(std::uint64_t bytes) {
    return duration(reads_, bytes, cfg_.read_latency);
}

sc_time medium::time_of_write(std::uint64_t bytes) {
    return duration(writes_, bytes, cfg_.write_latency);
}

/// A flush begins after earlier writes.
sc_time medium::time_of_flush() {
    return duration(writes_, 0, cfg_.flush_latency);
}

}  // namespace trn::nvme
