// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/units.h"

namespace trn::config {

/// Place of a value: line and column from 1, and the number of characters to mark with carets.
struct place {
    int line = 0;
    int column = 0;
    int length = 1;
};

/// Whether `text` consists of letters, digits and `_`; not if it is empty.
bool is_word(std::string_view text);

/// Name of one enumerator. To make an enumeration readable, specialise `choices<E>` with a
/// constexpr array `list` of these.
template <class E>
struct choice {
    std::string_view name;
    E value;
};
template <class E>
struct choices;

namespace detail {

enum class shape : std::uint8_t { nothing, null, scalar, list, map };

struct tree_node {
    shape form = shape::nothing;
    bool plain = false;  ///< unquoted: only such scalars can be numbers and booleans
    config::place place;
    std::string text = {};                                              ///< scalar
    std::vector<std::uint32_t> items = {};                              ///< list
    std::vector<std::pair<std::uint32_t, std::uint32_t>> entries = {};  ///< map: keys, values
    mutable bool used = false;                                          ///< for a key: it was read
};

/// A file's text, its tree, and its diagnostics.
struct source {
    std::string name;
    std::string text;
    std::vector<std::size_t> line_starts;
    std::vector<tree_node> nodes;
    diagnostics* problems = nullptr;

    void report(mistake code, const place& place, std::string message,
                std::string suggestion = "") const;
};

}  // namespace detail

/// A value in a document; cheap to copy, valid as long as the document. Reads do not throw: an
/// error is reported to the document's diagnostics and a default is returned, so that one pass
/// finds all errors.
class node {
public:
    struct entry;

    node() = default;

    bool exists() const { return source_ != nullptr; }
    explicit operator bool() const { return exists(); }
    bool is_map() const;
    bool is_list() const;
    bool is_scalar() const;
    config::place place() const;
    /// The file's name, as diagnostics show it.
    std::string_view file() const;

    /// The items of a list, or the entries of a map (marked as used); reports other shapes.
    std::vector<node> items() const;
    std::vector<entry> entries() const;
    /// The keys of a map, without marking them as used.
    std::vector<std::string> keys() const;
    std::size_t size() const;

    /// The value of `key`, or a node that does not exist. Marks the key as used.
    node find(std::string_view key) const;
    /// The value of `key`; reports E09 when it is missing.
    node at(std::string_view key) const;
    /// Place of the key itself, for errors about the key; place of this map when the key is
    /// missing.
    config::place key_place(std::string_view key) const;

    /// Reports E11 for every key that is not in `known`: "<what> has no key 'x'".
    void only(std::span<const std::string_view> known, std::string_view noun) const;
    void only(std::initializer_list<std::string_view> known, std::string_view noun) const {
        only(std::span(known.begin(), known.size()), noun);
    }

    /// The value as a T: an integer type, bool, double, std::string, a unit type of units.h, an
    /// enumeration with choices<E>, or a std::vector of these.
    template <class T>
    T as() const;
    /// as<T>() of the required key `key`; reports E09 when it is missing.
    template <class T>
    T require(std::string_view key) const {
        return at(key).as<T>();
    }
    template <class T>
    T get(std::string_view key, T otherwise) const {
        const node value = find(key);
        return value ? value.as<T>() : otherwise;
    }
    /// An identifier: letters, digits and `_`, not starting with a digit.
    std::string name() const;

    /// The scalar's text as written ("" for other shapes); reports no error.
    std::string_view raw() const;

    void report(mistake code, std::string message, std::string suggestion = "") const;
    /// Like report(), for another place of this document.
    void report_at(const config::place& place, mistake code, std::string message,
                   std::string suggestion = "") const;

private:
    friend class document;
    node(const detail::source* source, std::uint32_t index) : source_(source), index_(index) {}

    const detail::tree_node& get() const { return source_->nodes[index_]; }
    const std::string* scalar(std::string_view expected, bool must_be_plain) const;
    std::uint64_t unsigned_up_to(std::uint64_t max) const;
    std::int64_t signed_within(std::int64_t min, std::int64_t max) const;
    bool boolean() const;
    std::string string() const;
    template <class T>
    T quantity(parsed<T> (*parse)(std::string_view), std::string_view noun) const;
    std::size_t choose(std::span<const std::string_view> names) const;

    const detail::source* source_ = nullptr;
    std::uint32_t index_ = 0;
};

struct node::entry {
    std::string key;
    node key_node;
    node value;
};

/// A YAML file with the place of every value. Limits: 4 MiB, 200,000 values, 32 levels; no anchors,
/// aliases or tags. Duplicate keys are errors (yaml-cpp would keep both).
class document {
public:
    /// \throws config_error when the text is not YAML; other errors are collected in `problems`,
    /// which must outlive the document.
    static document load(const std::filesystem::path& file, diagnostics& problems);
    static document parse(std::string text, std::string name, diagnostics& problems);

    node root() const;
    const std::string& name() const { return source_->name; }
    const std::string& text() const { return source_->text; }

    /// Reports E13 for every key that was not read. Call it last.
    void reject_unused() const;

private:
    explicit document(std::unique_ptr<detail::source> source) : source_(std::move(source)) {}
    std::unique_ptr<detail::source> source_;
};

namespace detail {
template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
}  // namespace detail

template <class T>
T node::as() const {
    if (!exists()) return T{};
    if constexpr (std::same_as<T, bool>) {
        return boolean();
    } else if constexpr (std::same_as<T, std::string>) {
        return string();
    } else if constexpr (std::unsigned_integral<T>) {
        return static_cast<T>(unsigned_up_to(std::numeric_limits<T>::max()));
    } else if constexpr (std::signed_integral<T>) {
        return static_cast<T>(
            signed_within(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    } else if constexpr (std::same_as<T, double>) {
        return quantity(&parse_real, "number");
    } else if constexpr (std::same_as<T, bytes>) {
        return quantity(&parse_bytes, "size");
    } else if constexpr (std::same_as<T, picoseconds>) {
        return quantity(&parse_time, "time");
    } else if constexpr (std::same_as<T, data_rate>) {
        return quantity(&parse_data_rate, "data rate");
    } else if constexpr (std::same_as<T, lane_rate>) {
        return quantity(&parse_lane_rate, "lane rate");
    } else if constexpr (std::same_as<T, hertz>) {
        return quantity(&parse_frequency, "frequency");
    } else if constexpr (detail::is_vector<T>::value) {
        T list;
        for (const node& item : items()) list.push_back(item.as<typename T::value_type>());
        return list;
    } else {
        static_assert(std::is_enum_v<T>, "a type that cannot be read from YAML");
        std::vector<std::string_view> names;
        names.reserve(choices<T>::list.size());
        for (const auto& c : choices<T>::list) names.push_back(c.name);
        return choices<T>::list[choose(names)].value;
    }
}

}  // namespace trn::config
