// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace trn::registers::rdl {

enum kinds : unsigned {
    of_none = 0,
    of_addrmap = 1,
    of_regfile = 2,
    of_reg = 4,
    of_field = 8,
    of_mem = 16,
    of_signal = 32,
    of_all = 63
};

/// What a property is for.
enum class use { read, kept, refused_if_true };

struct property_row {
    std::string_view name;
    unsigned kinds;
    rdl::use use;
};

/// The properties of SystemRDL 2.0 (Accellera, annex G) and ours.
inline constexpr std::array property_rows{
    property_row{"name", of_all, use::kept},
    property_row{"desc", of_all, use::read},
    property_row{"ispresent", of_all, use::read},
    property_row{"sw", of_field | of_mem, use::read},
    property_row{"onread", of_field, use::read},
    property_row{"onwrite", of_field, use::read},
    property_row{"rclr", of_field, use::read},
    property_row{"rset", of_field, use::read},
    property_row{"woclr", of_field, use::read},
    property_row{"woset", of_field, use::read},
    property_row{"singlepulse", of_field, use::kept},
    property_row{"reset", of_field, use::read},
    property_row{"encode", of_field, use::read},
    property_row{"fieldwidth", of_field, use::read},
    property_row{"regwidth", of_reg, use::read},
    property_row{"accesswidth", of_reg, use::read},
    property_row{"alignment", of_addrmap | of_regfile, use::read},
    property_row{"addressing", of_addrmap, use::read},
    property_row{"lsb0", of_addrmap, use::read},
    property_row{"msb0", of_addrmap, use::read},
    property_row{"littleendian", of_addrmap, use::kept},
    property_row{"bigendian", of_addrmap, use::refused_if_true},
    property_row{"bridge", of_addrmap, use::refused_if_true},
    property_row{"rsvdset", of_addrmap, use::refused_if_true},
    property_row{"rsvdsetX", of_addrmap, use::kept},
    property_row{"shared", of_reg, use::kept},
    property_row{"sharedextbus", of_addrmap | of_regfile, use::kept},
    property_row{"errextbus", of_addrmap | of_regfile | of_reg, use::kept},
    property_row{"hdl_path", of_addrmap | of_regfile | of_reg, use::kept},
    property_row{"hdl_path_gate", of_addrmap | of_regfile | of_reg, use::kept},
    property_row{"hdl_path_slice", of_field | of_mem, use::kept},
    property_row{"hdl_path_gate_slice", of_field | of_mem, use::kept},
    property_row{"dontcompare", of_addrmap | of_regfile | of_reg | of_field, use::kept},
    property_row{"donttest", of_addrmap | of_regfile | of_reg | of_field, use::kept},
    property_row{"hw", of_field, use::kept},
    property_row{"next", of_field, use::kept},
    property_row{"resetsignal", of_field, use::kept},
    property_row{"swwe", of_field, use::kept},
    property_row{"swwel", of_field, use::kept},
    property_row{"swmod", of_field, use::kept},
    property_row{"swacc", of_field, use::kept},
    property_row{"we", of_field, use::kept},
    property_row{"wel", of_field, use::kept},
    property_row{"anded", of_field, use::kept},
    property_row{"ored", of_field, use::kept},
    property_row{"xored", of_field, use::kept},
    property_row{"hwclr", of_field, use::kept},
    property_row{"hwset", of_field, use::kept},
    property_row{"hwenable", of_field, use::kept},
    property_row{"hwmask", of_field, use::kept},
    property_row{"counter", of_field, use::kept},
    property_row{"threshold", of_field, use::kept},
    property_row{"saturate", of_field, use::kept},
    property_row{"incrthreshold", of_field, use::kept},
    property_row{"incrsaturate", of_field, use::kept},
    property_row{"overflow", of_field, use::kept},
    property_row{"underflow", of_field, use::kept},
    property_row{"incr", of_field, use::kept},
    property_row{"incrvalue", of_field, use::kept},
    property_row{"incrwidth", of_field, use::kept},
    property_row{"decr", of_field, use::kept},
    property_row{"decrvalue", of_field, use::kept},
    property_row{"decrwidth", of_field, use::kept},
    property_row{"decrsaturate", of_field, use::kept},
    property_row{"decrthreshold", of_field, use::kept},
    property_row{"intr", of_field | of_reg, use::kept},
    property_row{"halt", of_field | of_reg, use::kept},
    property_row{"enable", of_field, use::kept},
    property_row{"mask", of_field, use::kept},
    property_row{"haltenable", of_field, use::kept},
    property_row{"haltmask", of_field, use::kept},
    property_row{"sticky", of_field, use::kept},
    property_row{"stickybit", of_field, use::kept},
    property_row{"precedence", of_field, use::kept},
    property_row{"paritycheck", of_field, use::kept},
    property_row{"memwidth", of_mem, use::kept},
    property_row{"mementries", of_mem, use::kept},
    property_row{"signalwidth", of_signal, use::kept},
    property_row{"sync", of_signal, use::kept},
    property_row{"async", of_signal, use::kept},
    property_row{"cpuif_reset", of_signal, use::kept},
    property_row{"field_reset", of_signal, use::kept},
    property_row{"activehigh", of_signal, use::kept},
    property_row{"activelow", of_signal, use::kept},
    property_row{"external", of_none, use::kept},  // a word before the name of an instance
    property_row{"trnvp_source", of_addrmap, use::read},
    property_row{"trnvp_size", of_addrmap, use::read},
    property_row{"trnvp_holes", of_addrmap, use::read},
    property_row{"trnvp_prefix", of_regfile, use::read},
    property_row{"trnvp_known_by", of_reg, use::read},
    property_row{"trnvp_fidelity", of_reg, use::read},
    property_row{"trnvp_contract_skip", of_reg, use::read},
    property_row{"trnvp_access", of_reg | of_field, use::read},
    property_row{"trnvp_unnamed", of_field, use::read}};

}  // namespace trn::registers::rdl
