// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

namespace trn::scenario {

/// Observes a condition that a step waits for.
class watch {
public:
    virtual ~watch() = default;
    virtual bool is_met() = 0;
    virtual std::string found_text() const = 0;  ///< the current value: "it is 3"
    /// Notified when the condition may have changed; null: the condition is polled.
    virtual const sc_core::sc_event* changed() const { return nullptr; }
};

/// Time limit and polling period of a wait; nanoseconds, simulated.
struct timeout {
    std::uint64_t within = 0, every = 10'000;
};

/// The range of numbers that meet a condition.
struct range {
    std::uint64_t min = 0, max = ~std::uint64_t{0};
    std::string text() const;
    bool has(std::uint64_t value) const { return value >= min && value <= max; }
};

}  // namespace trn::scenario
