// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "platform/framework/kernel/introspection.h"

namespace trn {

/// Receives counters, except those that take long to determine.
class quick_statistics : public statistics {
protected:
    ~quick_statistics() = default;
};

/// Receives the counters of a module and keeps one.
class one_counter final : public statistics {
public:
    explicit one_counter(std::string_view name) : name_(name) {}
    void count(std::string_view counter, std::uint64_t value) override {
        if (counter == name_) found = value;
    }
    std::optional<std::uint64_t> found;

    /// Whether `out` uses the counter, for a counter that takes long to determine.
    static bool wanted(const statistics& out, std::string_view counter) {
        const auto* receiver = dynamic_cast<const one_counter*>(&out);
        if (receiver != nullptr) return receiver->name_ == counter;
        return dynamic_cast<const quick_statistics*>(&out) == nullptr;
    }

private:
    const std::string_view name_;
};

}  // namespace trn
