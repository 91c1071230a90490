// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <systemc>

namespace trn {

/// Implemented by a module of which boards may have thousands: creates an optional end of its
/// kind's table when a board binds it, so that unbound ones cost nothing.
class creates_ends {
public:
    /// The end is a child of this module afterwards. nullptr: the class does not match the table.
    virtual sc_core::sc_object* create_end(std::string_view name) = 0;

protected:
    ~creates_ends() = default;

    /// Makes objects created during its life children of `parent`.
    class inside {
    public:
        explicit inside(sc_core::sc_module& parent) {
            sc_core::sc_get_curr_simcontext()->hierarchy_push(&parent);
        }
        ~inside() { sc_core::sc_get_curr_simcontext()->hierarchy_pop(); }
        inside(const inside&) = delete;
        inside& operator=(const inside&) = delete;
    };
};

}  // namespace trn
