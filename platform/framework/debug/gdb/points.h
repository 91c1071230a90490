// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <utility>
#include <vector>

#include "platform/framework/debug/harts.h"
#include "platform/framework/kernel/debug_target.h"

namespace trn::gdb {

/// The breakpoints and watchpoints of a session. Each is set on all harts of a process.
class points {
public:
    static constexpr std::size_t max_points = 1024;  ///< of each kind, per process

    /// Type of a breakpoint that GDB did not set: libraries may change there.
    static constexpr char library = 'L';
    /// Address and type ('0' software, '1' hardware, or `library`). GDB may set both at one
    /// address.
    using breakpoint = std::pair<std::uint64_t, char>;
    struct watchpoint {
        debug_target::watchpoint watched;
        char type;  ///< '2' write, '3' read, '4' access
    };

    explicit points(const std::vector<debug_hart>& harts) : harts_(harts) {}

    /// Inserts or removes a point. Returns false when there are too many.
    bool set(bool insert, unsigned process, const breakpoint& point);
    bool set(bool insert, unsigned process, const watchpoint& point);
    void remove_all(unsigned process);

    /// Whether the hart's pc is at a breakpoint of this type.
    bool is_at(const debug_hart& hart, char type) const;
    /// The watchpoint that covers the access of the hart's last stop, or nullptr.
    const watchpoint* hit_by(const debug_hart& hart) const;
    /// False when GDB has removed the point of the hart's last stop meanwhile, after the report of
    /// another hart.
    bool explains_stop(const debug_hart& hart) const;
    /// Whether a breakpoint is at a return address of the hart's stack, as set by "finish" and
    /// "until".
    bool catches_return(const debug_hart& hart) const;
    /// Whether a breakpoint is at an address that the hart's next instruction leads to.
    bool catches_next(const debug_hart& hart) const;

    /// The points, for take_over() in another process.
    nlohmann::json hand_over() const;
    void take_over(const nlohmann::json& state);

private:
    template <typename Change>
    void on_harts_of(unsigned process, const Change& change) const;
    const std::set<breakpoint>& breakpoints_of(const debug_hart& hart) const;

    const std::vector<debug_hart>& harts_;
    std::map<unsigned, std::set<breakpoint>> breakpoints_;  ///< by process
    std::map<unsigned, std::vector<watchpoint>> watchpoints_;
};

}  // namespace trn::gdb
