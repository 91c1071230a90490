// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "platform/framework/config/units.h"
#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// `initiator -> target [@ base + size [=> target base]]`, `plug <-> plug`, or either with `none`.
struct bind_line {
    struct end {
        std::string module;
        std::string port;
        std::optional<std::uint64_t> index;
    };
    end source;
    std::optional<end> target;  ///< nullopt: `none`
    bool both_ways = false;     ///< `<->`
    std::optional<plan::range> window;
};

config::parsed<bind_line> parse_bind_line(std::string_view text);

/// "hbm0.in" or "plic.lines[5]".
config::parsed<bind_line::end> parse_end(std::string_view text);

/// Parses an address: a number, or a size ("64 GiB") relative to 0.
config::parsed<std::uint64_t> parse_address(std::string_view text);

}  // namespace trn
