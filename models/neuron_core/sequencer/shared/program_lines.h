// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "models/neuron_isa/instructions/instruction.h"
#include "platform/framework/registers/register_bank.h"

namespace trn {

/// Source lines of the programs of a core, which a loader may put into memory for messages and the
/// timeline (doc/models/neuron_core/sequencer.md, "Source lines"). Reads them on demand, without
/// time or side effects. Results are bounded even if the memory holds other data.
class program_lines {
public:
    /// Reads bytes at an address; returns the number of bytes read.
    using peek = std::function<unsigned(std::uint64_t address, std::span<std::uint8_t> bytes)>;

    static constexpr unsigned name_bytes = 128;  ///< of a file's name in the table

    program_lines(const register_bank& control, peek read)
        : control_(control), read_(std::move(read)) {}

    /// "add.trn:12"; empty if the line is unknown.
    std::string text_of(isa::engine e, std::uint32_t pc) const;

private:
    const register_bank& control_;
    peek read_;
};

/// "pc 3 (add.trn:12)", or "pc 3" if the line is unknown. `lines` may be null.
std::string describe_pc(const program_lines* lines, isa::engine e, std::uint32_t pc);

}  // namespace trn
