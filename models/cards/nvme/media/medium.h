// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <systemc>

#include "models/cards/nvme/media/block_store.h"
#include "models/cards/nvme/media/write_cache.h"
#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn::nvme {

/// The content of a disk: storage, volatile write cache, spoiled blocks, and access times.
/// Precondition: ranges are within size().
class medium {
public:
    struct config {
        std::uint64_t capacity = 0;    ///< bytes, a multiple of 4096
        std::string image = {};        ///< file with the content; empty: in memory
        bool read_only_image = false;  ///< written data stays in memory
        std::uint64_t write_cache = 0;
        std::uint64_t read_rate = 0, write_rate = 0;  ///< bytes per second
        sc_core::sc_time read_latency, write_latency, flush_latency;
    };

    /// \throws std::runtime_error if the image cannot be used
    medium(const std::string& name, const config& cfg);

    std::uint64_t size() const { return cfg_.capacity; }
    std::uint64_t used() const { return store_->used(); }
    bool has_write_cache() const { return cache_.exists(); }
    std::uint64_t dirty_bytes() const { return cache_.dirty_bytes(); }

    /// False if the storage has failed or the range has spoiled bytes.
    bool read(std::uint64_t offset, std::span<std::uint8_t> bytes);
    bool write(std::uint64_t offset, std::span<const std::uint8_t> bytes);
    /// Clears the first bytes of a range, as many as bounded work at the present time allows, and
    /// makes them durable; returns their number (0: none before time advances), or nothing if the
    /// storage has failed. Precondition: length is not 0.
    std::optional<std::uint64_t> clear(std::uint64_t offset, std::uint64_t length);
    void flush() { cache_.flush(); }
    void flush(std::uint64_t offset, std::uint64_t length) { cache_.flush(offset, length); }
    void lose_power() { cache_.lose_power(); }

    /// Makes reads of the range fail until it is written.
    void spoil(std::uint64_t offset, std::uint64_t length);
    bool is_readable(std::uint64_t offset, std::uint64_t length) const;

    /// Durations from now on. Each call reserves the medium for its access.
    sc_core::sc_time time_of_read(std::uint64_t bytes);
    sc_core::sc_time time_of_write(std::uint64_t bytes);
    sc_core::sc_time time_of_flush();

private:
    void mend(std::uint64_t offset, std::uint64_t length);

    const config cfg_;
    std::unique_ptr<block_store> store_;
    write_cache cache_;
    std::map<std::uint64_t, std::uint64_t> spoiled_;  // begin -> end; disjoint
    bandwidth_resource reads_, writes_;
};

}  // namespace trn::nvme
