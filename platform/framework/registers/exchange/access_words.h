// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/registers/generator/schema.h"

/// Accesses and fields, as SystemRDL and IP-XACT see them: each bit of a register that does
/// something belongs to a field.
namespace trn::registers {

/// `access_rules` without the short words for combinations.
struct plain_rules {
    bool is_readable = true;
    bool is_writable = true;
    write_effect write{};
    read_effect read{};
    bool once = false;
};
plain_rules plain(const access_rules& rules);
/// The shortest words for the rules. Precondition: the bits are readable or writable.
access_rules shortest(const plain_rules& rules);

/// "rw one_to_toggle read_set once".
std::string to_words(const access_rules& rules);
std::optional<access_rules> from_words(std::string_view text);

/// A field with its part of the reset value. Unnamed: bits of the register outside its fields.
struct field_part {
    field_spec field = {};
    std::uint64_t reset = 0;
    bool is_unnamed = false;
};

/// Fields of a register, with an unnamed one for bits outside that other readers would take for
/// reserved.
std::vector<field_part> parts_of(const register_spec& reg, unsigned bits);
/// Access of a register with these fields, if nothing else is said.
access_rules rules_of(const std::vector<field_part>& parts, unsigned bits);
/// Whether a hook of the model decides what an access does.
bool is_defined_by_model(const std::vector<field_part>& parts);
/// Sets fields, reset value and access of a register.
void join_parts(register_spec& reg, std::vector<field_part> parts, unsigned bits,
                const std::optional<access_rules>& own);

}  // namespace trn::registers
