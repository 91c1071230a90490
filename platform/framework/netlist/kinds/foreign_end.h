// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

namespace trn {

/// A socket or signal port of a foreign model, in the table of its kind. The library that knows
/// bridges implements it (platform/framework/bridges/foreign_ports.h), so that boards without
/// foreign models need none.
class foreign_end {
public:
    /// The end of this project's protocol that stands for a foreign end: boards bind it.
    struct stand_in {
        sc_core::sc_object* end = nullptr;  ///< the foreign object itself if it needs no bridge
        std::vector<std::shared_ptr<sc_core::sc_object>> parts = {};  ///< bridges, signals
    };

    /// The names of parts are `name` of make() and one of these.
    static constexpr std::array<std::string_view, 4> part_suffixes{"_bridge", "_bridge_width",
                                                                   "_width", "_signal"};

    virtual ~foreign_end() = default;
    /// For users: "32 bits, loosely timed".
    virtual std::string describe() const = 0;
    /// Whether it has a stand-in although no line of a board binds it.
    virtual bool is_always_bound() const = 0;
    /// Binds element `index` of this end of `module`. `name`: of the parts, before the suffix. No
    /// `end`: the module's class does not match the table.
    /// \throws sc_core::sc_report if the foreign model does not accept the binding
    virtual stand_in make(sc_core::sc_module& module, unsigned index,
                          const std::string& name) const = 0;

protected:
    foreign_end() = default;
    foreign_end(const foreign_end&) = default;
    foreign_end& operator=(const foreign_end&) = default;
};

}  // namespace trn
