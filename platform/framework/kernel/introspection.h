// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

/// What a module may implement so that tools can see into it. A module inherits the small
/// interfaces that fit; tools find them by walking the SystemC hierarchy on request, so a
/// module that is not asked pays nothing and registers nothing.
namespace trn {

/// Receives the counters of one module, in the order in which the module names them.
class statistics {
public:
    /// `counter` is a word with its unit in the name: "descriptors", "bytes_copied".
    virtual void count(std::string_view counter, std::uint64_t value) = 0;

protected:
    ~statistics() = default;
};

class publishes_statistics {
public:
    virtual void publish(statistics& out) const = 0;

protected:
    ~publishes_statistics() = default;
};

/// A module that can be stuck says what it waits for, in the words of the stall report.
class describes_wait {
public:
    /// "queue 3: 16 descriptors posted, ring memory not readable"; nothing when it waits for
    /// nothing.
    virtual std::optional<std::string> describe_wait() const = 0;

protected:
    ~describes_wait() = default;
};

/// A module that decides whether its chip is up: `--until ready` waits for all of them.
class reports_ready {
public:
    virtual bool ready() const = 0;

protected:
    ~reports_ready() = default;
};

/// The arguments of a fault by name, as the person who injects it wrote them.
using fault_arguments = std::map<std::string, std::string, std::less<>>;

/// A fault that cannot be injected as asked: the text says which argument is wrong and what is
/// allowed.
class fault_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A module that can be broken on purpose: its table of faults is the list that tools show and what
/// injects them.
class accepts_faults {
public:
    struct fault {
        std::string name;         ///< "hbm_uncorrected"
        std::string description;  ///< one sentence, the arguments with units and defaults
        std::function<void(const fault_arguments&)> action;
    };
    virtual std::vector<fault> faults() = 0;
    /// \throws fault_error for a name that the table does not have, or an argument that the action
    /// refuses
    void inject(std::string_view name, const fault_arguments& arguments);

protected:
    ~accepts_faults() = default;
};

/// Bytes that tools can read and write without side effects: an AXI map, a memory, a hart's view.
class address_space {
public:
    /// Bytes done from the start; fewer than asked when an address does not answer.
    virtual std::size_t peek(std::uint64_t address, std::span<std::byte> bytes) = 0;
    virtual std::size_t poke(std::uint64_t address, std::span<const std::byte> bytes) = 0;

protected:
    ~address_space() = default;
};

/// A processor that keeps decoded instructions: told when a tool wrote memory behind its back.
class caches_code {
public:
    virtual void invalidate_code() = 0;

protected:
    ~caches_code() = default;
};

/// A character device whose other end tools can be (a UART).
class console {
public:
    using sink = std::function<void(std::string_view)>;
    /// `to` receives what the guest prints from now on; any number of sinks.
    virtual void on_output(sink to) = 0;
    /// Characters typed at the guest. Bounded by the device's queue: returns how many it took.
    virtual std::size_t type(std::string_view characters) = 0;

protected:
    ~console() = default;
};

/// Calls `visit` with every module that implements `interface`, depth first in construction order.
/// `visit` must not create modules.
template <typename interface>
void for_each_module(const std::function<void(const sc_core::sc_object&, interface&)>& visit) {
    const std::function<void(const std::vector<sc_core::sc_object*>&)> walk =
        [&](const auto& level) {
            for (auto* object : level) {
                if (auto* found = dynamic_cast<interface*>(object)) visit(*object, *found);
                walk(object->get_child_objects());
            }
        };
    walk(sc_core::sc_get_top_level_objects());
}

/// The module that `object` is part of: itself, or what it is a part of. An interface can be
/// implemented by a plain sc_object inside a module; people know it by the module's name.
inline std::string module_name(const sc_core::sc_object& object) {
    const auto* owner = &object;
    while (!dynamic_cast<const sc_core::sc_module*>(owner) && owner->get_parent_object() != nullptr)
        owner = owner->get_parent_object();
    return owner->name();
}

/// True while at least one module reports readiness and all of them are ready. Asking is cheap: the
/// modules are looked up once, when the condition is made (after elaboration).
std::function<bool()> ready_condition();

}  // namespace trn
