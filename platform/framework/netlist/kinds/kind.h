// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstddef>
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
#include "platform/framework/netlist/kinds/limits.h"

namespace trn {

class foreign_end;

/// One parameter of a kind: a field of its `config`, with conversion from YAML and to text with its
/// unit. Tables are written with platform/framework/netlist/kinds/kind_table.h.
struct parameter {
    /// Reports which of the texts was refused, and why.
    using on_refusal = std::function<void(std::size_t index, const config::refusal& why)>;

    /// Conversions of a type of fields. Parameters refer to these instead of having code of their
    /// own.
    struct conversion {
        void (*assign)(void* field, const parameter& declared, std::span<const std::string> texts,
                       const on_refusal&);
        std::string (*show)(const void* field, unit dimension);
        bool list;  ///< accepts any number of texts; otherwise exactly one
    };

    std::string name;
    std::string type;  ///< for users: "size", "time", "list of numbers"
    std::string doc;
    bool required = false;
    unit dimension = unit::none;
    any_limits bounds;  ///< of a number, and of each number of a list
    const conversion* converts = nullptr;
    const void* (*object)(const std::any& config) = nullptr;  ///< the configuration inside
    std::ptrdiff_t offset = 0;                                ///< of the field

    bool list() const { return converts->list; }
    void assign(std::any& config, std::span<const std::string> texts,
                const on_refusal& refuse) const;
    std::string show(const std::any& config) const;
};

/// `uses` and `provides` are the ends of a C++ interface (an sc_port, or a setter); a plug is
/// joined to another plug.
enum class port_role : std::uint8_t { initiator, target, irq_out, irq_in, uses, provides, plug };
std::string_view to_string(port_role role);

/// Where a PCI Express port leads: an upstream port toward the root complex, a downstream port away
/// from it. A link joins one with the other.
enum class port_side : std::uint8_t { any, upstream, downstream };

/// A number in a kind's table: a constant, or computed from the kind's configuration by a member
/// pointer or a function.
struct port_number {
    std::function<std::uint64_t(const std::any& config)> compute;

    port_number(std::uint64_t constant)
        : compute([constant](const std::any&) { return constant; }) {}
    template <class F>
    requires(!std::is_convertible_v<F, std::uint64_t>) port_number(F getter);
};

/// One socket or interrupt line of a kind, with the name of its sc_object. Declared in a table, so
/// that errors in bind lines are found before modules exist.
struct port {
    using from_config = decltype(port_number::compute);

    std::string name;
    port_role role{};
    std::string doc;
    bool many = false;  ///< may be bound more than once
    bool may_be_unbound = false;
    bool is_decoded = false;    ///< target: of a router (kind_of() sets it)
    bool ranged = false;        ///< each binding needs an address range: a router's initiator
    from_config size = {};      ///< target: bytes it decodes from 0; none = any address
    from_config lines = {};     ///< irq_in: number of lines; none = 1
    from_config count = {};     ///< an sc_vector of this many sockets, `name[3]`; none = one socket
    from_config lanes = {};     ///< plug: lanes of its link; none = those of the joined plug
    from_config links = {};     ///< plug: number of equal links formed by its lanes; none = 1
    from_config room = {};      ///< plug: total lanes of all elements; none = unlimited
    from_config block = {};     ///< plug: lanes per block of `room`; none = one block
    from_config reach = {};     ///< initiator: bytes from 0 that it can access; none = all
    bool passes_on = false;     ///< plug: accesses leave through the module's other plugs
    std::string leads_to = {};  ///< target: initiator that forwards accesses
    from_config shift = {};     ///< target with leads_to: added to their addresses; none = 0
    /// initiator: index of the target whose accesses it forwards (kind_of() sets it)
    std::optional<std::size_t> forwards_from = {};
    std::string interface = {};  ///< uses, provides: name of the interface
    /// plug: of a PCI Express port
    port_side side = port_side::any;
    /// uses: passes the provider to the user; false if a class does not match the table.
    std::function<bool(sc_core::sc_module& user, sc_core::sc_module& provider)> join = {};
    /// Of a foreign model: what stands for this end. None: an end of this project.
    std::shared_ptr<const foreign_end> foreign = {};

    /// Whether the kind forwards accesses to this target.
    bool forwards() const { return is_decoded || !leads_to.empty(); }
    static port initiator(std::string name, std::string doc);
    static port target(std::string name, std::string doc);
    static port irq_out(std::string name, std::string doc);
    static port irq_in(std::string name, std::string doc);
    static port plug(std::string name, std::string doc);
    /// The user has an sc_port<I> of this name, or a function `set`.
    template <class I>
    static port uses(std::string name, std::string doc);
    template <class I, class User>
    static port uses(std::string name, std::string doc, void (User::*set)(I&));
    template <class I>
    static port provides(std::string name, std::string doc);

    port optional() &&;
    port unlimited() &&;
    port with_ranges() &&;
    port passing_on() &&;
    port facing(port_side wanted) &&;
    port leading_to(std::string initiator) &&;
    /// Like leading_to(); `added` is added to addresses.
    port leading_to(std::string initiator, port_number added) &&;
    port reaching(port_number bytes) &&;
    port of_size(port_number bytes) &&;
    port of_lines(port_number number) &&;
    port times(port_number elements) &&;
    port with_lanes(port_number number) &&;
    port in_links(port_number number) &&;
    port within_lanes(port_number total) &&;
    /// Each link must fit into one block.
    port in_blocks_of(port_number number) &&;
};

/// A counter that modules of a kind publish (publishes_statistics). Upper-case letters stand for a
/// number or a name: "portN_in_wire_bytes".
struct statistic {
    std::string name;
    std::string unit;  ///< "": a number of what the name says
    std::string doc;
};

/// An event that modules of a kind write to a trace (trace::event). Upper-case letters stand for a
/// name. "copy ... completed/dropped" is a slice: its begin, and the event that ends it.
struct traced_event {
    std::string name;
    std::string fields;  ///< "queue, bytes"; of a slice those of its begin
    std::string doc;
};

/// A type of module that boards can name: how to configure and construct it.
struct kind {
    std::string name;
    std::string doc;  ///< one sentence
    std::vector<parameter> parameters;
    std::vector<port> ports;
    std::vector<statistic> statistics = {};
    std::vector<traced_event> events = {};
    std::function<std::any()> defaults;
    /// Returns why a configuration is invalid ("size must be a power of two"), or nullopt.
    std::function<std::optional<std::string>(const std::any& config)> check = {};
    std::function<std::unique_ptr<sc_core::sc_module>(const char* name, const std::any& config)>
        make;

    /// Sets port::is_decoded and port::forwards_from.
    void find_ways();
    const parameter* find_parameter(std::string_view wanted) const;
    /// Index in `ports`, or nullopt.
    std::optional<std::size_t> find_port(std::string_view wanted) const;
};

using kind_list = std::vector<kind>;

}  // namespace trn
