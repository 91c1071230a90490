// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/framework/netlist/plan/plan.h"

namespace trn::drawing {

/// The role of a part in the board's topology.
enum class symbol : std::uint8_t { nothing, group, chip, host, crossing, card, cable };

/// Kind and rate of a connection.
struct cable {
    std::string text;                    ///< "4 x8 Gen6"; empty: unknown
    std::uint64_t bytes_per_second = 0;  ///< raw rate per direction; 0: unknown
};

/// Defines how modules of a board are drawn; implemented for the models of this project.
struct vocabulary {
    /// The symbol of a module. Modules inside a chip or a card are not drawn.
    std::function<symbol(const plan::module& m)> symbol_of;
    /// Kind and rate of a module that is a cable.
    std::function<cable(const plan& board, const plan::module& m)> cable_of;
    /// The text below the name: "graviton, 768 GiB".
    std::function<std::string(const plan& board, const plan::module& m)> note_of;
};

/// Nested groups with their devices, and the connections between devices.
struct topology {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct part {
        std::string path, name, type, note;
        symbol shape = symbol::nothing;
        std::uint32_t parent = none;
        std::vector<std::uint32_t> members;  ///< members of a group, in the order of the board
    };
    struct connection {
        std::uint32_t a = none, b = none;
        cable made_of;
    };
    /// parts[0] is the board; a group precedes its members. No group is empty.
    std::vector<part> parts;
    std::vector<connection> connections;  ///< in the order of the board

    std::size_t count(symbol shape) const;
    unsigned depth(std::uint32_t part) const;  ///< number of groups around a part
};

topology read_topology(const plan& board, const vocabulary& words);

/// The topology as text for Graphviz.
std::string to_dot(const plan& board, const topology& t);
/// The topology as a picture. The bytes do not depend on the machine that draws it.
std::string to_svg(const plan& board, const topology& t);

/// A rate with its unit: "256 GB/s".
std::string rate_text(std::uint64_t bytes_per_second);

}  // namespace trn::drawing
