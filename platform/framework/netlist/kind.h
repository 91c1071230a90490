// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <systemc>
#include <type_traits>
#include <vector>

#include "platform/framework/config/units.h"

namespace trn {

/// One parameter of a kind: a field of its `config`, read from YAML and shown with its unit.
/// Tables of these are written with platform/framework/netlist/kind_table.h.
struct parameter {
    /// Tells which of the texts was refused and why.
    using on_refusal = std::function<void(std::size_t index, const config::refusal& why)>;

    std::string name;
    std::string type;  ///< as a person reads it: "size", "time", "list of numbers"
    std::string doc;
    bool required = false;
    bool list = false;  ///< takes any number of texts; others take exactly one
    std::function<void(std::any& config, std::span<const std::string> texts, const on_refusal&)>
        assign;
    std::function<std::string(const std::any& config)> show;
};

/// `uses` and `provides` are the two ends of a C++ interface (an sc_port, or a setter); a plug is
/// one end of a wire and meets another plug.
enum class port_role : std::uint8_t { initiator, target, irq_out, irq_in, uses, provides, plug };
std::string_view to_string(port_role role);

/// One socket or interrupt line of a kind, by the name of its sc_object. Said in the table so that
/// mistakes in bind lines are found before any module exists.
struct port {
    using from_config = std::function<std::uint64_t(const std::any& config)>;

    std::string name;
    port_role role{};
    std::string doc;
    bool many = false;       ///< any number of bindings
    bool may_stay = false;   ///< legal without a binding
    bool ranged = false;     ///< each binding needs an address range: a router's initiator
    from_config size = {};   ///< target: bytes it decodes from 0; none = any address
    from_config lines = {};  ///< irq_in: how many lines; none = 1
    from_config count = {};  ///< an sc_vector of this many sockets, `name[3]`; none = one socket
    from_config lanes = {};  ///< plug: of its link; none = those of whatever is plugged in
    from_config links = {};  ///< plug: equal links that its lanes are in; none = 1
    from_config room = {};   ///< plug: lanes that all elements have together; none = any number
    from_config block = {};  ///< plug: lanes of a block, of which `room` is made; none = one block
    std::string leads_to = {};   ///< target: the initiator where accesses leave again, unchanged
    std::string interface = {};  ///< uses, provides: which one
    /// uses: hands the provider to the user; false when either is not what the table says.
    std::function<bool(sc_core::sc_module& user, sc_core::sc_module& provider)> join = {};

    static port initiator(std::string name, std::string doc);
    static port target(std::string name, std::string doc);
    static port irq_out(std::string name, std::string doc);
    static port irq_in(std::string name, std::string doc);
    static port plug(std::string name, std::string doc);
    /// The user has an sc_port<I> of this name; or is told by `set`.
    template <class I>
    static port uses(std::string name, std::string doc);
    template <class I, class User>
    static port uses(std::string name, std::string doc, void (User::*set)(const I&));
    template <class I>
    static port provides(std::string name, std::string doc);

    port optional() &&;
    port unlimited() &&;
    port with_ranges() &&;
    port leading_to(std::string initiator) &&;
    port of_size(std::uint64_t bytes) &&;
    port of_lines(std::uint64_t lines) &&;
    port times(std::uint64_t elements) &&;
    port with_lanes(std::uint64_t number) &&;
    /// The same, computed from the kind's configuration: a member pointer or a function of it.
    template <class F>
    requires(!std::is_convertible_v<F, std::uint64_t>) port of_size(F from) &&;
    template <class F>
    requires(!std::is_convertible_v<F, std::uint64_t>) port of_lines(F from) &&;
    template <class F>
    requires(!std::is_convertible_v<F, std::uint64_t>) port times(F from) &&;
    template <class F>
    requires(!std::is_convertible_v<F, std::uint64_t>) port with_lanes(F from) &&;
    template <class F>
    requires(!std::is_convertible_v<F, std::uint64_t>) port in_links(F from) &&;
    template <class F>
    requires(!std::is_convertible_v<F, std::uint64_t>) port within_lanes(F from) &&;
    /// A link is within one block.
    template <class F>
    requires(!std::is_convertible_v<F, std::uint64_t>) port in_blocks_of(F from) &&;
};

/// Something a board may name: how to configure and build one class of module.
struct kind {
    std::string name;
    std::string doc;  ///< one sentence
    std::vector<parameter> parameters;
    std::vector<port> ports;
    std::function<std::any()> defaults;
    /// Why a configuration makes no sense ("size must be a power of two"), or nothing.
    std::function<std::optional<std::string>(const std::any& config)> check = {};
    std::function<std::unique_ptr<sc_core::sc_module>(const char* name, const std::any& config)>
        make;

    const parameter* find_parameter(std::string_view wanted) const;
    /// Index in `ports`, or nothing.
    std::optional<std::size_t> find_port(std::string_view wanted) const;
};

using kind_list = std::vector<kind>;
const kind* find_kind(const kind_list& kinds, std::string_view name);

}  // namespace trn
