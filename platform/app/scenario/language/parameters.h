// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/host_options/host_choices.h"
#include "platform/framework/config/document.h"
#include "sw-stubs/host/machine/location.h"

namespace trn::scenario {

/// One point of a scenario's matrix: the values of ${name}, in the order of the file.
using parameters = std::vector<std::pair<std::string, std::string>>;

/// "size=4 KiB, stack=2"; "" without parameters.
std::string to_string(const parameters& point);

/// A simulated or wall time of a scenario, in whole nanoseconds.
struct nanoseconds {
    std::uint64_t value = 0;
};
/// "1.5 ms"
std::string to_string(nanoseconds time);

/// An offset into a memory: a plain number of bytes, or a size with its unit.
struct byte_offset {
    std::uint64_t value = 0;
};

/// Limits of a size, in bytes.
struct size_bounds {
    std::uint64_t min = 0, max = ~std::uint64_t{0};
};

/// Reads the values of one mapping with ${name} replaced. Like config::node, it reports errors at
/// the value's place and returns defaults, so that one pass finds all errors.
class reader {
public:
    reader(config::node map, const parameters& point) : map_(map), point_(&point) {}

    const config::node& node() const { return map_; }
    const parameters& point() const { return *point_; }
    bool has(std::string_view key) const { return map_.find(key).exists(); }
    /// Reports every other key, and a node that is not a mapping.
    void only(std::span<const std::string_view> keys) const;

    /// Reports those of the keys that are given: without effect here.
    void refuse(std::initializer_list<std::string_view> keys, const std::string& why) const;

    std::string text(std::string_view key) const;
    std::uint64_t number(std::string_view key, std::uint64_t max = ~std::uint64_t{0}) const;
    std::int32_t signed_number(std::string_view key) const;
    double real(std::string_view key) const;
    bool flag(std::string_view key) const;
    std::uint64_t size(std::string_view key, size_bounds within = {}) const;    ///< bytes
    std::uint64_t offset(std::string_view key, size_bounds within = {}) const;  ///< number or size
    std::uint64_t time(std::string_view key) const;                             ///< nanoseconds
    std::uint64_t positive_time(std::string_view key) const;                    ///< reports 0
    std::uint64_t rate(std::string_view key) const;  ///< bytes per second
    /// `fault`: an additional check that returns an error message or "".
    location place(std::string_view key, std::string (*fault)(const location&) = nullptr) const;
    template <class E>
    E choice(std::string_view key) const;
    /// A list of choices, or a single one; reports an empty list.
    template <class E>
    std::vector<E> choices(std::string_view key) const;
    reader map(std::string_view key) const { return {map_.at(key), *point_}; }
    /// A list of texts, or a single text.
    std::vector<std::string> texts(std::string_view key) const;
    std::vector<std::uint64_t> numbers(std::string_view key) const;
    /// Reports a size outside the bounds at `key`.
    void check_size(std::string_view key, std::uint64_t size, const size_bounds& within) const;

    /// The value itself, when the step is not a mapping: `snapshot: booted`.
    std::string word() const;
    /// The value as a text; "" after an error.
    static std::string replaced(const config::node& value, const parameters& point);
    /// The same; nothing after an error.
    static std::optional<std::string> substituted(const config::node& value,
                                                  const parameters& point);
    /// The value as a time; reports 0.
    static std::uint64_t positive_time_of(const config::node& value, const parameters& point);

private:
    static std::optional<std::uint64_t> accepted_time(const config::node& value,
                                                      const parameters& point);
    /// The items of a list, or the value itself.
    std::vector<config::node> listed(std::string_view key) const;
    template <class E>
    static E choice_of(const config::node& value, const parameters& point);

    config::node map_;
    const parameters* point_;
};

template <class E>
E reader::choice_of(const config::node& value, const parameters& point) {
    std::vector<std::string_view> names;
    const auto word = replaced(value, point);
    for (const auto& c : config::choices<E>::list) {
        if (c.name == word) return c.value;
        names.push_back(c.name);
    }
    value.report(mistake::not_a_choice, "'" + word + "' is not a valid choice",
                 suggest(word, names));
    return {};
}

template <class E>
E reader::choice(std::string_view key) const {
    const auto value = map_.at(key);
    return value ? choice_of<E>(value, *point_) : E{};
}

template <class E>
std::vector<E> reader::choices(std::string_view key) const {
    std::vector<E> all;
    for (const auto& item : listed(key)) all.push_back(choice_of<E>(item, *point_));
    if (all.empty() && has(key))
        map_.at(key).report(mistake::wrong_shape, "an empty list allows no choice");
    return all;
}

}  // namespace trn::scenario
