// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sw-stubs/host/collectives/collective.h"
#include "sw-stubs/host/programs/loaded_program.h"

namespace trn {

/// A collective that a program on several chips starts, from one of its tensors to another.
struct program_collective {
    collective_request request = {};      ///< type, size and slot follow from the program
    std::string send = {}, receive = {};  ///< names of tensors; "" for a barrier

    /// "all_reduce product -> sum S[30] channels=1": the operation, the tensors, and the semaphore
    /// to which each channel adds 1 at the end of a run. Options: algorithm, operator, root,
    /// channels, lanes, limit_us. From a tensor to itself it is in place. \throws
    /// std::runtime_error
    static program_collective read(const std::string& text);
};

/// Collectives of loaded programs: the n-th is in slot n of the chips' cores and is started by a
/// write of 0x100 << n to the doorbell of each channel's CC-Core. Members must be called
/// where collective_group's are.
class program_collectives {
public:
    /// Preconditions: at most TRN_CC_SLOTS collectives; the group outlives this object.
    program_collectives(collective_group& group, std::span<const program_collective> wanted)
        : group_(group), wanted_(wanted.begin(), wanted.end()) {}

    /// Loads the collectives for these programs, one per rank. \throws device_error
    void load(std::span<const loaded_program* const> programs);
    /// Text about the first collective that hangs; "": none.
    std::string failure();
    void unload();

private:
    collective_group& group_;
    const std::vector<program_collective> wanted_;
    std::uint32_t loaded_ = 0;
};

}  // namespace trn
