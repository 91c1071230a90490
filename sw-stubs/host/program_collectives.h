// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sw-stubs/host/collective.h"
#include "sw-stubs/host/loaded_program.h"

namespace trn {

/// A collective over the same program on several chips, which the program starts: from one of its
/// tensors to another.
struct program_collective {
    collective_request request = {};      ///< type, size and slot follow from the program
    std::string send = {}, receive = {};  ///< names of tensors; "" of a barrier

    /// "all_reduce product -> sum S[30] channels=1": the operation, the tensors, and the semaphore
    /// to which each channel adds 1 at the end of a run. Options: algorithm, operator, root,
    /// channels, lanes, limit_us. \throws std::runtime_error with one sentence
    static program_collective read(const std::string& text);
};

/// Collectives of programs that are loaded: the n-th of them is in slot n of the chips' cores, and
/// a write of 0x100 << n to the doorbell of a channel's collective core starts it. Members run
/// where collective_group's do.
class program_collectives {
public:
    /// At most TRN_CC_SLOTS. The group outlives this.
    program_collectives(collective_group& group, std::span<const program_collective> wanted)
        : group_(group), wanted_(wanted.begin(), wanted.end()) {}

    /// Loads them for these programs, one for each rank. \throws device_error
    void load(std::span<const loaded_program* const> programs);
    /// Which of them hangs, in a sentence; "": none.
    std::string failure();
    void unload();

private:
    collective_group& group_;
    const std::vector<program_collective> wanted_;
    std::uint32_t loaded_ = 0;
};

}  // namespace trn
