// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "models/processor/riscv/decode/decode.h"
#include "platform/framework/kernel/streamed_file.h"

namespace trn::riscv {

/// Writes one line per retired instruction in the format of Spike's --log-commits:
///   core   0: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000 mem 0x... 0x...
class commit_log {
public:
    explicit commit_log(streamed_file& out) : out_(out) {}

    void begin();
    void load(u64 va) { loads_.push_back(va); }
    void store(u64 va, unsigned size, u64 value) { stores_.push_back({va, value, size}); }
    /// `name` must stay valid until the instruction retires.
    void csr(unsigned number, std::string_view name, u64 value) {
        csrs_.push_back({number, name, value});
    }
    void retire(u64 hart_id, privilege mode, u64 pc, const decoded& d, const std::array<u64, 33>& x,
                const std::array<u64, 32>& f);

private:
    struct stored {
        u64 va, value;
        unsigned size;
    };
    struct written {
        unsigned number;
        std::string_view name;
        u64 value;
    };
    streamed_file& out_;
    std::vector<u64> loads_;
    std::vector<stored> stores_;
    std::vector<written> csrs_;
};

}  // namespace trn::riscv
