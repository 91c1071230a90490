// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include "models/neuron_isa/assembler/instruction_reader.h"
#include "models/neuron_isa/assembler/program_set.h"
#include "models/neuron_isa/instructions/instruction.h"

namespace trn::isa {

using semaphore_set = std::set<sync_index>;

/// Adds the semaphores and events that an instruction of `core` waits for or changes.
void add_semaphores(const instruction& i, unsigned core, std::span<const relocation> relocations,
                    semaphore_set& semaphores);

/// Throws line_error if engine `issuer` of this generation of chips rejects the instruction;
/// without an issuer, the first engine that has it. `reader` provides the places of its operands.
void check_instruction(const instruction& i, std::optional<engine> issuer, generation chip,
                       const instruction_reader& reader);

}  // namespace trn::isa
