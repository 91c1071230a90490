// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <systemc>
#include <typeinfo>
#include <unordered_map>
#include <vector>

/// Interfaces that modules may implement for tools. A module inherits those that apply; tools find
/// modules by walking the SystemC hierarchy on request, so that unused interfaces cost nothing.
namespace trn {

/// Receives the counters of a module, in the module's order.
class statistics {
public:
    /// `counter`: a word that contains the unit: "descriptors", "bytes_copied".
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

/// Interface of a module that can block: describes what it waits for, for the stall report.
class describes_wait {
public:
    /// For example "queue 3: 16 descriptors posted, ring memory not readable"; nothing when it does
    /// not wait.
    virtual std::optional<std::string> describe_wait() const = 0;

protected:
    ~describes_wait() = default;
};

/// Interface of a module that knows whether its chip has booted: `--until ready` waits for all.
class reports_ready {
public:
    virtual bool ready() const = 0;

protected:
    ~reports_ready() = default;
};

/// Interface of a memory that tools access: an AXI map, a RAM, a hart's view. All return the number
/// of bytes done from the start; less than the size when an address is unmapped or refuses.
class address_space {
public:
    /// Reads without side effects.
    virtual std::size_t peek(std::uint64_t address, std::span<std::byte> bytes) = 0;
    /// Writes without side effects, also what software cannot write.
    virtual std::size_t deposit(std::uint64_t address, std::span<const std::byte> bytes) = 0;
    /// Writes as software does: a doorbell rings. Takes no simulated time.
    virtual std::size_t poke(std::uint64_t address, std::span<const std::byte> bytes) {
        return deposit(address, bytes);
    }

protected:
    ~address_space() = default;
};

/// Interface of a processor that caches decoded instructions; notified of writes by tools.
class caches_code {
public:
    virtual void invalidate_code() = 0;

protected:
    ~caches_code() = default;
};

/// Interface of a character device (a UART) that tools can connect to.
class console {
public:
    using sink = std::function<void(std::string_view)>;
    /// Adds a sink for what the guest prints from now on; there may be several.
    virtual void on_output(sink added) = 0;
    /// Types characters at the guest. Returns how many the device's queue accepted.
    virtual std::size_t type(std::string_view characters) = 0;

protected:
    ~console() = default;
};

/// Finds an interface of objects by one dynamic_cast for each class: a rack has 100,000 objects of
/// some fifty classes.
template <typename interface>
class interface_finder {
public:
    /// Null: the object does not implement it.
    interface* find(sc_core::sc_object& object) {
        auto* const whole = static_cast<std::byte*>(dynamic_cast<void*>(&object));
        const auto [known, is_new] = offsets_.try_emplace(&typeid(object));
        if (is_new)
            if (auto* found = dynamic_cast<interface*>(&object))
                known->second = reinterpret_cast<std::byte*>(found) - whole;
        return known->second ? reinterpret_cast<interface*>(whole + *known->second) : nullptr;
    }

private:
    std::unordered_map<const std::type_info*, std::optional<std::ptrdiff_t>> offsets_;
};

/// Returns the first module that implements `interface` and for which `accept` returns true, depth
/// first in construction order; nullptr if none does. `accept` must not create modules.
template <typename interface>
interface* find_module(const std::function<bool(const sc_core::sc_object&, interface&)>& accept) {
    interface_finder<interface> interfaces;
    const auto walk = [&](const auto& self, const auto& level) -> interface* {
        for (auto* object : level) {
            auto* const found = interfaces.find(*object);
            if (found != nullptr && accept(*object, *found)) return found;
            if (auto* inside = self(self, object->get_child_objects())) return inside;
        }
        return nullptr;
    };
    return walk(walk, sc_core::sc_get_top_level_objects());
}

/// Calls `visit` with every module that implements `interface`, in the same order.
template <typename interface>
void for_each_module(const std::function<void(const sc_core::sc_object&, interface&)>& visit) {
    find_module<interface>([&](const auto& object, auto& module) {
        visit(object, module);
        return false;
    });
}

template <typename interface>
bool any_module() {
    return find_module<interface>([](const auto&, auto&) { return true; }) != nullptr;
}

/// Name of the module that contains `object`, or of `object` if it is a module. An interface may be
/// implemented by a plain sc_object, but users know the module's name.
inline std::string module_name(const sc_core::sc_object& object) {
    const auto* owner = &object;
    while (!dynamic_cast<const sc_core::sc_module*>(owner) && owner->get_parent_object() != nullptr)
        owner = owner->get_parent_object();
    return owner->name();
}

/// A condition: at least one module reports readiness, and all of them are ready. It is cheap to
/// evaluate, since the modules are looked up now. Call it after elaboration.
std::function<bool()> ready_condition();

}  // namespace trn
