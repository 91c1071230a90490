// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/cards/nvme/controller/command_engine.h"
#include "models/cards/nvme/controller/features.h"
#include "models/cards/nvme/controller/health.h"

namespace trn::nvme {

/// Executes the commands of the NVM command set (NVM Express 6) on the only namespace.
class io_commands final : public command_set {
public:
    io_commands(medium& content, std::uint32_t block_bytes, const features& settings, health& state)
        : content_(content), block_bytes_(block_bytes), settings_(settings), health_(state) {}

    void begin(job& task) override;
    void moved(job& task) override;
    void clear(job& task) override;

    std::uint64_t blocks() const { return content_.size() / block_bytes_; }

private:
    using range = job::range;
    /// The blocks of a command; sets `outcome` if they are not all on the medium.
    range blocks_of(job& task) const;
    void read(job& task);
    void write(job& task);
    void write_zeroes(job& task);
    void deallocate(job& task);
    bool is_durable(const job& task) const;

    medium& content_;
    const std::uint32_t block_bytes_;
    const features& settings_;
    health& health_;
};

}  // namespace trn::nvme
