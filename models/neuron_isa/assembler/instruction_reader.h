// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/neuron_isa/assembler/cursor.h"
#include "models/neuron_isa/assembler/directives.h"
#include "models/neuron_isa/assembler/operand_reader.h"
#include "models/neuron_isa/assembler/program_set.h"
#include "models/neuron_isa/instructions/instruction.h"
#include "models/neuron_isa/instructions/table.h"

namespace trn::isa {

/// The label that a branch has as its target.
struct label_use {
    std::string label;
    std::size_t column;
};

/// Reads one line with an instruction. Members throw line_error.
class instruction_reader {
public:
    instruction_reader(cursor& input, program_names& names) : in_(input), names_(names) {}

    instruction read();

    /// Of a branch whose target is a label.
    const std::optional<label_use>& target() const { return target_; }
    /// Addresses that the loader fills in; `word` is relative to the instruction.
    const std::vector<relocation>& relocations() const { return relocations_; }
    /// Place of the operand or field with this key; the instruction's name if it is absent.
    extent place_of(std::string_view key) const;
    /// The transfers that a dma_start names.
    const std::vector<const transfer*>& transfers() const { return transfers_; }

private:
    /// Notes that the key was read at `start`; refuses it if it was read before.
    void once(std::size_t start, std::string_view key);
    void header();
    const row& mnemonic();
    void registers(const row& kind);
    static std::vector<std::string_view> field_names(const row& kind);
    [[noreturn]] void unknown_key(std::size_t start, std::string_view key,
                                  std::span<const std::string_view> known) const;
    void value(const row& kind, const field& row_field, register_fields& f);
    void label();
    void sync();
    /// Reads a number, or "@" and a name whose address the loader fills in at `byte`.
    std::uint64_t address(unsigned byte);
    /// Reads "0x2701800.4=1": address, size, and data or register.
    void writes();
    void doorbells();
    /// Adds one set of doorbells per number of descriptors per engine: one or two sets.
    void start_transfer(doorbell_sets& sets, unsigned& n, std::size_t start);
    /// "source=0x1000 + R3*64 [8:1024, 1:0, 1:0, 1:0]"
    dge_copy_fields::side dge_side(unsigned byte);
    void dge();
    /// Keys that the row accepts; modes are keys without '='.
    static std::vector<std::string_view> tile_keys(const row& kind);
    void tiles(const row& kind);
    void tile_field(const row& kind, std::string_view key);
    /// Remembers IMM's place; fix_immediate() reads it when the type of DST is known.
    void remember_immediate();
    void fix_immediate(const row& kind);
    void mask();
    /// "(offset, multiplier) [count:step, ...]"
    void pattern();

    cursor& in_;
    operand_reader operands_{in_};
    program_names& names_;
    instruction i_;
    extent name_;
    std::vector<std::string_view> given_;        // keys that were read
    std::map<std::string_view, extent> places_;  // by key
    std::optional<cursor> immediate_;
    std::optional<label_use> target_;
    std::vector<relocation> relocations_;
    std::vector<const transfer*> transfers_;
};

}  // namespace trn::isa
