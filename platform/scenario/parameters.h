// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/config/document.h"
#include "sw-stubs/host/location.h"

namespace trn::scenario {

/// One point of a scenario's matrix: what ${name} means, in the order of the file.
using parameters = std::vector<std::pair<std::string, std::string>>;

/// "size=4 KiB, stack=2"; "" without parameters.
std::string to_string(const parameters& point);

/// Reads the values of one mapping with ${name} replaced, and reports mistakes at the value's place
/// as config::node does: defaults come back, and one pass finds all.
class reader {
public:
    reader(config::node map, const parameters& point) : map_(map), point_(&point) {}

    const config::node& node() const { return map_; }
    bool has(std::string_view key) const { return map_.find(key).exists(); }
    /// Every other key is a mistake.
    void only(std::initializer_list<std::string_view> keys) const;

    std::string text(std::string_view key) const;
    std::string text(std::string_view key, std::string otherwise) const;
    std::uint64_t number(std::string_view key, std::uint64_t most = ~std::uint64_t{0}) const;
    std::uint64_t number(std::string_view key, std::uint64_t most, std::uint64_t otherwise) const;
    std::int32_t signed_number(std::string_view key) const;
    double real(std::string_view key) const;
    bool flag(std::string_view key, bool otherwise) const;
    std::uint64_t size(std::string_view key) const;                             ///< bytes
    std::uint64_t offset(std::string_view key, std::uint64_t otherwise) const;  ///< number or size
    std::uint64_t time(std::string_view key) const;                             ///< nanoseconds
    std::uint64_t time(std::string_view key, std::uint64_t otherwise) const;
    std::uint64_t rate(std::string_view key, std::uint64_t otherwise) const;  ///< bytes per second
    location place(std::string_view key) const;
    template <class E>
    E choice(std::string_view key) const;
    template <class E>
    E choice(std::string_view key, E otherwise) const {
        return has(key) ? choice<E>(key) : otherwise;
    }
    reader map(std::string_view key) const { return {map_.at(key), *point_}; }
    /// A list of texts, of which one may stand by itself; none without the key.
    std::vector<std::string> texts(std::string_view key) const;
    /// One reader per item of a list of mappings.
    std::vector<reader> list(std::string_view key) const;

    /// The value itself, when the step is no mapping: `wait: 10 us`.
    static std::string replaced(const config::node& value, const parameters& point);
    static std::uint64_t time_of(const config::node& value, const parameters& point);

private:
    config::node at(std::string_view key) const { return map_.at(key); }

    config::node map_;
    const parameters* point_;
};

template <class E>
E reader::choice(std::string_view key) const {
    const auto value = at(key);
    if (!value) return {};
    const auto word = replaced(value, *point_);
    std::vector<std::string_view> names;
    for (const auto& c : config::choices<E>::list) {
        if (c.name == word) return c.value;
        names.push_back(c.name);
    }
    value.report(mistake::not_a_choice, "'" + word + "' is none of the choices",
                 suggest(word, names));
    return {};
}

}  // namespace trn::scenario
