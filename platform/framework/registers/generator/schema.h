// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/config/document.h"
#include "platform/framework/registers/table.h"

/// A block's register description, read from YAML (doc/registers.md), checked and resolved.
namespace trn::registers {

enum class access : std::uint8_t { rw, ro, wo, rw1c, rw0c, rw1s, w1c, w1s, rc };
/// Effect of a write, by the names of IP-XACT (IEEE 1685, modifiedWriteValue); none: as `access`
/// says.
enum class write_effect : std::uint8_t {
    none,
    one_to_clear,
    one_to_set,
    one_to_toggle,
    zero_to_clear,
    zero_to_set,
    zero_to_toggle,
    clear,
    set,
    modify
};
/// Effect of a read on the value (IEEE 1685, readAction).
enum class read_effect : std::uint8_t { none, clear, set, modify };

/// What software can do with a register or a field.
struct access_rules {
    registers::access access{};
    write_effect write{};
    read_effect read{};
    bool once = false;  ///< only the first write has its effect

    bool operator==(const access_rules&) const = default;
};
/// "rw, one_to_toggle, read set, once".
std::string to_string(const access_rules& rules);

/// Meaning of an access kind.
struct access_effects {
    bool is_readable, is_writable;
    write_effect write = write_effect::none;
    read_effect read = read_effect::none;
};
access_effects effects_of(access kind);

/// A property of SystemRDL that the platform does not use, for the way back: its name, and its
/// value as SystemRDL writes it.
struct rdl_property {
    std::string name;
    std::string value;
};

struct value_spec {
    std::string name;
    std::uint64_t value = 0;
    config::place place;
};

struct field_spec {
    std::string name;
    unsigned lsb = 0;
    unsigned width = 1;
    access_rules access;
    std::string desc;
    std::vector<value_spec> values;
    std::vector<rdl_property> rdl;
    config::place place;

    std::uint64_t mask() const {
        return register_field{0, std::uint8_t(lsb), std::uint8_t(width)}.mask();
    }
};

struct register_spec {
    std::string name = {};
    std::uint64_t offset = 0;
    std::vector<array_dimension> dims = {};  ///< outermost first; empty: a single register
    access_rules access = {};
    std::uint64_t reset = 0;
    std::vector<field_spec> fields = {};
    std::string desc = {};
    knowledge known_by{};
    trn::fidelity fidelity{};
    std::string contract_skip = {};
    std::vector<rdl_property> rdl = {};
    config::place place = {};

    std::uint32_t count() const;
    bit_access bits(unsigned width) const;
};

/// A register, or a group of registers, as a description nests them.
struct item_spec {
    std::optional<register_spec> reg =
        {};                   ///< its name, offset and dimensions are those within the group
    std::string prefix = {};  ///< of a group, as the next members
    std::uint64_t base = 0;
    std::vector<array_dimension> dims = {};
    std::vector<item_spec> items = {};
    std::vector<rdl_property> rdl = {};
    config::place place = {};
};

struct block_spec {
    std::string block = {};
    config::place place = {};  ///< of the block's name
    std::string source = {};
    std::string desc = {};
    unsigned width = 4;      ///< bytes
    std::uint64_t size = 0;  ///< bytes
    hole_policy holes{};
    std::vector<register_spec> registers = {};  ///< ascending by offset
    std::vector<item_spec> items = {};          ///< the same registers in their groups
    std::vector<rdl_property> rdl = {};
};

/// Reads and checks a description. Errors are added to the document's diagnostics; the result is
/// valid only if there are none.
block_spec read_block(const config::document& document);

std::string lower(std::string_view text);
std::string upper(std::string_view text);

}  // namespace trn::registers

/// The words of a description.
namespace trn::config {

using registers::access;
using registers::read_effect;
using registers::write_effect;

template <>
struct choices<write_effect> {
    static constexpr std::array list{
        choice<write_effect>{"one_to_clear", write_effect::one_to_clear},
        choice<write_effect>{"one_to_set", write_effect::one_to_set},
        choice<write_effect>{"one_to_toggle", write_effect::one_to_toggle},
        choice<write_effect>{"zero_to_clear", write_effect::zero_to_clear},
        choice<write_effect>{"zero_to_set", write_effect::zero_to_set},
        choice<write_effect>{"zero_to_toggle", write_effect::zero_to_toggle},
        choice<write_effect>{"clear", write_effect::clear},
        choice<write_effect>{"set", write_effect::set},
        choice<write_effect>{"modify", write_effect::modify}};
};
template <>
struct choices<read_effect> {
    static constexpr std::array list{choice<read_effect>{"clear", read_effect::clear},
                                     choice<read_effect>{"set", read_effect::set},
                                     choice<read_effect>{"modify", read_effect::modify}};
};
template <>
struct choices<access> {
    static constexpr std::array list{
        choice<access>{"rw", access::rw},     choice<access>{"ro", access::ro},
        choice<access>{"wo", access::wo},     choice<access>{"rw1c", access::rw1c},
        choice<access>{"rw0c", access::rw0c}, choice<access>{"rw1s", access::rw1s},
        choice<access>{"w1c", access::w1c},   choice<access>{"w1s", access::w1s},
        choice<access>{"rc", access::rc}};
};
template <>
struct choices<knowledge> {
    static constexpr std::array list{choice<knowledge>{"driver", knowledge::driver},
                                     choice<knowledge>{"document", knowledge::document},
                                     choice<knowledge>{"inferred", knowledge::inferred},
                                     choice<knowledge>{"invented", knowledge::invented}};
};
template <>
struct choices<fidelity> {
    static constexpr std::array list{choice<fidelity>{"exact", fidelity::exact},
                                     choice<fidelity>{"approximate", fidelity::approximate},
                                     choice<fidelity>{"stub", fidelity::stub}};
};
template <>
struct choices<hole_policy> {
    static constexpr std::array list{choice<hole_policy>{"error", hole_policy::error},
                                     choice<hole_policy>{"ram", hole_policy::ram},
                                     choice<hole_policy>{"zero", hole_policy::zero}};
};

}  // namespace trn::config

namespace trn::registers {

/// The word of a choice.
template <class Choice>
std::string_view name_of(Choice value) {
    for (const auto& each : config::choices<Choice>::list)
        if (each.value == value) return each.name;
    return {};
}

}  // namespace trn::registers
