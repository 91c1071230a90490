// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <systemc>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace trn {

/// Arguments of a fault by name, as the user wrote them.
using fault_arguments = std::map<std::string, std::string, std::less<>>;

/// A fault cannot be injected; what() names the wrong argument and its allowed values.
class fault_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// An argument of a fault: its type, the values that it may have, and what it is if it is not
/// given. From these rows values are checked, and lists and documents are made.
struct fault_argument {
    enum class form : std::uint8_t { number, real, size, time };
    /// A whole number, of bytes for a size and of picoseconds for a time; `double` for `real`.
    using value = std::variant<std::int64_t, double>;

    std::string name;
    std::string meaning;
    form type = form::number;
    value min, max;
    std::string unit = {};  ///< of a number: "K"
    bool required = true;
    std::optional<value> otherwise = {};  ///< the default; without one an optional value is random

    static fault_argument number(std::string name, std::int64_t min, std::int64_t max,
                                 std::string meaning);
    static fault_argument real(std::string name, double min, double max, std::string meaning);
    /// A number of bytes below `end`: "4096", "0x1000" or "16 MiB".
    static fault_argument size(std::string name, std::uint64_t end, std::string meaning);
    /// A time up to `max`: "10 us".
    static fault_argument time(std::string name, const sc_core::sc_time& max, std::string meaning);
    /// `count`: how many times a fault happens; 1 by default.
    static fault_argument count();

    template <class T>
    fault_argument by_default(T preset) && {
        if constexpr (std::is_floating_point_v<T>)
            otherwise = double{preset};
        else
            otherwise = static_cast<std::int64_t>(preset);
        required = false;
        return std::move(*this);
    }
    fault_argument random_by_default() &&;
    fault_argument in_unit(std::string its_unit) &&;

    std::string type_text() const;     ///< "number", "size"
    std::string range() const;         ///< "0 to 15", "below 36 GiB"
    std::string default_text() const;  ///< "10 us", "random"; "" for a required argument
    /// \throws fault_error
    value read(std::string_view text) const;
};

/// The values of a fault's arguments: those that were given, and defaults.
class fault_values {
public:
    /// \throws fault_error for an argument that is unknown, missing, of another type or out of
    /// range
    fault_values(std::string_view fault, std::span<const fault_argument> arguments,
                 const fault_arguments& given);

    bool has(std::string_view name) const { return values_.contains(name); }
    /// A number, or the bytes of a size.
    template <class T = std::uint64_t>
    T number(std::string_view name) const {
        return static_cast<T>(std::get<std::int64_t>(argument(name)));
    }
    double real(std::string_view name) const { return std::get<double>(argument(name)); }
    sc_core::sc_time time(std::string_view name) const;

private:
    const fault_argument::value& argument(std::string_view name) const;

    std::map<std::string, fault_argument::value, std::less<>> values_;
};

}  // namespace trn
