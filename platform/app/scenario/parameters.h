// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/config/document.h"
#include "sw-stubs/host/location.h"

namespace trn::scenario {

/// One point of a scenario's matrix: what ${name} means, in the order of the file.
using parameters = std::vector<std::pair<std::string, std::string>>;

/// "size=4 KiB, stack=2"; "" without parameters.
std::string to_string(const parameters& point);

/// How a value is written.
enum class value_shape {
    text,
    texts,
    number,
    numbers,
    real,
    flag,
    size,
    offset,
    time,
    rate,
    place,
    map,
    list
};

/// What the keys of a mapping are: noted while its reader reads nothing (schema.h).
class key_notes {
public:
    virtual ~key_notes() = default;
    virtual bool has(std::string_view key) const = 0;
    virtual void only(std::initializer_list<std::string_view> keys) = 0;
    /// `demanded`: by this way through the reader.
    virtual void note(std::string_view key, value_shape shape, bool demanded) = 0;
    virtual void note(std::string_view key, std::vector<std::string_view> choices) = 0;
};

/// What a size may be, in bytes.
struct size_bounds {
    std::uint64_t least = 0, most = ~std::uint64_t{0};
};

/// Reads the values of one mapping with ${name} replaced, and reports mistakes at the value's place
/// as config::node does: defaults come back, and one pass finds all.
class reader {
public:
    reader(config::node map, const parameters& point) : map_(map), point_(&point) {}
    /// Reads nothing, and tells what it would read.
    reader(key_notes& notes, const parameters& point) : point_(&point), notes_(&notes) {}

    const config::node& node() const { return map_; }
    bool has(std::string_view key) const {
        return notes_ ? notes_->has(key) : map_.find(key).exists();
    }
    /// Every other key is a mistake.
    void only(std::initializer_list<std::string_view> keys) const;

    std::string text(std::string_view key) const;
    std::string text(std::string_view key, std::string otherwise) const;
    std::uint64_t number(std::string_view key, std::uint64_t most = ~std::uint64_t{0}) const;
    std::uint64_t number(std::string_view key, std::uint64_t most, std::uint64_t otherwise) const;
    std::int32_t signed_number(std::string_view key) const;
    double real(std::string_view key) const;
    bool flag(std::string_view key, bool otherwise) const;
    std::uint64_t size(std::string_view key, size_bounds within = {}) const;  ///< bytes
    std::uint64_t offset(std::string_view key, std::uint64_t otherwise,
                         size_bounds within = {}) const;  ///< number or size
    std::uint64_t time(std::string_view key) const;       ///< nanoseconds
    std::uint64_t time(std::string_view key, std::uint64_t otherwise) const;
    std::uint64_t rate(std::string_view key, std::uint64_t otherwise) const;  ///< bytes per second
    /// `fault`, when given, says what else is wrong with a place, or "".
    location place(std::string_view key, std::string (*fault)(const location&) = nullptr) const;
    template <class E>
    E choice(std::string_view key) const;
    template <class E>
    E choice(std::string_view key, E otherwise) const {
        return has(key) ? choice<E>(key) : otherwise;
    }
    reader map(std::string_view key) const { return {at(key, value_shape::map), *point_}; }
    /// A list of texts, of which one may stand by itself; none without the key.
    std::vector<std::string> texts(std::string_view key) const;
    /// A list of them.
    std::vector<std::uint64_t> numbers(std::string_view key) const;
    /// One reader per item of a list of mappings.
    std::vector<reader> list(std::string_view key) const;

    /// The value itself, when the step is no mapping: `snapshot: booted`.
    std::string word() const;
    /// The same: `wait: 10 us`.
    static std::string replaced(const config::node& value, const parameters& point);
    static std::uint64_t time_of(const config::node& value, const parameters& point);

private:
    std::uint64_t bounded(const config::node& value, std::string_view key, std::uint64_t size,
                          const size_bounds& within) const;
    config::node at(std::string_view key, value_shape shape) const {
        if (notes_) notes_->note(key, shape, true);
        return map_.at(key);
    }
    /// One that may be missing.
    config::node find(std::string_view key, value_shape shape) const {
        if (notes_) notes_->note(key, shape, false);
        return map_.find(key);
    }

    config::node map_;
    const parameters* point_;
    key_notes* notes_ = nullptr;
};

template <class E>
E reader::choice(std::string_view key) const {
    std::vector<std::string_view> names;
    if (notes_) {
        for (const auto& c : config::choices<E>::list) names.push_back(c.name);
        notes_->note(key, names);
        return {};
    }
    const auto value = map_.at(key);
    if (!value) return {};
    const auto word = replaced(value, *point_);
    for (const auto& c : config::choices<E>::list) {
        if (c.name == word) return c.value;
        names.push_back(c.name);
    }
    value.report(mistake::not_a_choice, "'" + word + "' is none of the choices",
                 suggest(word, names));
    return {};
}

}  // namespace trn::scenario
