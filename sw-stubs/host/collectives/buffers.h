// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sw-stubs/collectives/include/trn_coll.h"
#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/machine/location.h"

namespace trn {

/// The memories of every rank's buffers: HBM stacks or SBUFs of cores. Offsets are ignored:
/// collective_memories assigns them.
struct collective_places {
    location send{location::kind::hbm};
    location receive{location::kind::hbm};
    location scratch{location::kind::hbm};
};
/// Error text for a place that cannot have buffers, or "".
std::string collective_place_fault(const location& place);

/// A buffer of a rank.
struct collective_buffer {
    location place;
    std::uint64_t address = 0;  ///< AXI
    std::uint64_t bytes = 0;
};

/// A rank's send, receive and scratch buffers without those that are within others (in place).
std::vector<collective_buffer> apart(const std::array<collective_buffer, 3>& all, bool in_place);

/// Layout of a chip's memories: HBM stack 0 begins with firmware's reserved bytes and the rings of
/// all slots; buffers follow. Each memory is divided into one share per slot, and every buffer is
/// between guard bytes, which must stay unchanged. A collective that runs alone may exceed its
/// slot's share.
class collective_memories {
public:
    static constexpr std::uint64_t workspace_at = TRN_HBM_RESERVED_BYTES;
    static constexpr std::uint64_t workspace_bytes = std::uint64_t{64} << 20;  ///< of a slot
    static constexpr std::uint64_t guard_bytes = 4096;
    /// Send, receive and scratch.
    using buffers = std::array<collective_buffer, 3>;

    /// Precondition: `chip` is probed, and all chips of the collective are like it.
    explicit collective_memories(const device& chip);

    /// The buffers of config.rank; in place, send and receive share memory. \throws device_error
    /// for an unknown memory, or if they do not fit
    buffers place(const trn_coll_config& config, const collective_places& places) const;
    /// Whether all buffers are within the slot's share.
    bool in_share(const buffers& all, std::uint32_t slot) const;

private:
    struct share {
        std::uint64_t begin, bytes;
    };
    std::uint64_t size_of(const location& memory) const;
    share share_of(const location& memory, std::uint32_t slot) const;

    trn_device_info info_;
    std::vector<std::uint64_t> stacks_, state_buffers_;  // AXI addresses
};

}  // namespace trn
