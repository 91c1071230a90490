// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sw-stubs/collectives/include/trn_coll.h"
#include "sw-stubs/host/device.h"
#include "sw-stubs/host/location.h"

namespace trn {

/// The memories in which every rank has its buffers: stacks of HBM or SBUFs of cores. Where in
/// them is not asked: collective_memories divides them.
struct collective_places {
    location send{location::kind::hbm};
    location receive{location::kind::hbm};
    location scratch{location::kind::hbm};
};
/// The sentence that says why buffers cannot be there, or "".
std::string collective_place_fault(const location& place);

/// A buffer of a rank.
struct collective_buffer {
    location at;
    std::uint64_t address = 0;  ///< AXI
    std::uint64_t bytes = 0;
};

/// How the memories of a chip are divided: HBM stack 0 begins with what belongs to firmware and
/// with the rings of all slots of the cores; buffers are behind that, in each memory those of a
/// slot in its share, and every buffer is between bytes that nothing may touch. A collective that
/// runs alone may have buffers larger than its slot's share.
class collective_memories {
public:
    static constexpr std::uint64_t workspace_at = TRN_HBM_RESERVED_BYTES;
    static constexpr std::uint64_t workspace_bytes = std::uint64_t{64} << 20;  ///< of a slot
    static constexpr std::uint64_t guard_bytes = 4096;
    /// Send, receive and scratch.
    using buffers = std::array<collective_buffer, 3>;

    /// `on` has been probed, and is as all chips of the collective.
    explicit collective_memories(const device& on);

    /// Those of config.rank. \throws device_error when the chip has no such memory or they do not
    /// fit
    buffers place(const trn_coll_config& config, const collective_places& where) const;
    /// Whether they leave other slots' shares alone.
    bool in_share(const buffers& all, std::uint32_t slot) const;

private:
    struct share {
        std::uint64_t begin, bytes;
    };
    std::uint64_t size_of(const location& memory) const;
    share share_of(const location& memory, std::uint32_t slot) const;

    trn_device_info about_;
    std::vector<std::uint64_t> stacks_, state_buffers_;  // AXI addresses
};

/// HBM through its BAR window, SBUF by the copy queue of its core: there a host has only registers'
/// width for each access. \throws device_error
void read_bytes(device& on, const location& from, std::span<std::uint8_t> bytes);
void write_bytes(device& on, const location& to, std::span<const std::uint8_t> bytes);

}  // namespace trn
