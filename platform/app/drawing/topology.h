// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/framework/netlist/plan.h"

namespace trn::drawing {

/// The role of a part of a board in its cabling.
enum class symbol : std::uint8_t { nothing, group, chip, host, crossing, card, cable };

/// Kind and rate of a connection.
struct cable {
    std::string text;                    ///< "4 x8 Gen6"; empty: unknown
    std::uint64_t bytes_per_second = 0;  ///< raw, of each direction; 0: unknown

    friend bool operator==(const cable&, const cable&) = default;
};

/// How the modules of a board are drawn; depends on the models.
struct vocabulary {
    /// The symbol of a module. Modules inside a chip or a card are not drawn.
    std::function<symbol(const plan::module& m)> symbol_of;
    /// Of a module that is a cable.
    std::function<cable(const plan& board, const plan::module& m)> cable_of;
    /// A few words below the name: "graviton, 768 GiB".
    std::function<std::string(const plan& board, const plan::module& m)> note_of;
};

/// Nested groups, the devices in them, and the connections of devices.
struct topology {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct part {
        std::string path, name, type, note;
        symbol what = symbol::nothing;
        std::uint32_t parent = none;
        std::vector<std::uint32_t> members;  ///< of a group, in the order of the board
    };
    struct connection {
        std::uint32_t a = none, b = none;
        cable made_of;
    };
    /// parts[0] is the board; a group precedes its members. No group is empty.
    std::vector<part> parts;
    std::vector<connection> connections;  ///< in the order of the board

    std::size_t count(symbol what) const;
};

topology read_topology(const plan& board, const vocabulary& words);

/// The same as text for Graphviz.
std::string to_dot(const plan& board, const topology& t);
/// The same as a picture; byte for byte the same on every host.
std::string to_svg(const plan& board, const topology& t);

/// "256 GB/s".
std::string rate_text(std::uint64_t bytes_per_second);

}  // namespace trn::drawing
