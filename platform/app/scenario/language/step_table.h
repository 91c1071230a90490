// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How kinds of steps are written: a structure with the values of a step, and a row for each key.
///
///     struct memset_step {
///         location at;
///         bytes size;
///         bool verify = true;
///         void finish(const reader& r);  // optional: what several keys say together
///         std::string text() const;      // for reports
///         void run(scenario_context& ctx) const;
///     };
///     step_of<memset_step>("memset", "writes one value",
///                          {key("at", &memset_step::at).required().refused_by(address_fault),
///                           key("size", &memset_step::size).required(),
///                           key("verify", &memset_step::verify)})
///
/// A step with more than a text and work has `action plan() const` in place of run().
///
/// The reader, the JSON schema (schema.h) and the tables in doc/steps.md (step_document.h) are
/// all made from the rows. A key's default is the one that the structure itself has; a
/// std::optional field has none.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/app/scenario/language/step.h"
#include "platform/app/scenario/language/step_value.h"
#include "platform/framework/config/field_offset.h"

namespace trn::scenario {

/// A kind of step.
struct step_kind {
    enum class form : std::uint8_t { mapping, word, condition, time_or_condition, branches };

    std::string_view name, doc;
    form written = form::mapping;
    std::vector<step_key> keys = {};
    /// Null for steps that contain steps, which scenario_files reads.
    std::function<action(const reader&)> read = {};
};

/// A row of the table of any kind of step: a key, and the field that it fills.
class key_row {
public:
    /// A key that `finish` reads instead of filling a field.
    key_row(std::string_view name, value_shape shape, std::string_view doc);
    /// `offset`: of the field in the step.
    key_row(std::string_view name, const field_type& type, std::ptrdiff_t offset,
            std::string_view doc);
    key_row(const key_row&);
    key_row(key_row&&) noexcept;
    key_row& operator=(const key_row&) = delete;
    key_row& operator=(key_row&&) = delete;
    ~key_row();

    std::string_view name() const { return shown_.name; }
    /// The properties of the key; `defaults` is a default-constructed step.
    step_key shown(const void* defaults) const;
    void read(const reader& r, void* step) const;
    /// Reports the key when no key that it needs is beside it.
    void check(const reader& r) const;
    /// Whether a step cannot have both this key and `other`.
    bool excludes(std::string_view other) const;
    /// For a structure that contains this one at an offset.
    key_row shifted(std::ptrdiff_t distance) const;
    /// Refuses this key beside any other key of `group`.
    void exclude(std::span<const std::string_view> group);

protected:
    step_key shown_;

private:
    const field_type* type_ = nullptr;
    std::ptrdiff_t offset_ = 0;
};

using key_rows = std::vector<key_row>;

void append(key_rows& rows, const key_rows& more);
std::vector<step_key> shown(const key_rows& rows, const void* defaults);
/// Fills the fields of `step`, and reports unknown keys and keys without effect.
void read_rows(const key_rows& rows, const reader& r, void* step);

namespace step_detail {

template <class S, class Base>
std::ptrdiff_t offset_of_base() {
    return config::offset_of<S>(static_cast<const Base*>(&config::default_of<S>()));
}

step_kind make_kind(std::string_view name, std::string_view doc, key_rows rows,
                    const void* defaults, action (*read)(const key_rows&, const reader&));

}  // namespace step_detail

/// A row of a step's table: the key `name` fills a field of step S.
template <class S>
class key : public key_row {
public:
    template <class T>
    key(std::string_view name, T S::*field, std::string_view doc = "")
        : key_row(name, field_type_of<T>, config::offset_of<S>(&(config::default_of<S>().*field)),
                  doc) {}
    key(std::string_view name, value_shape shape, std::string_view doc = "")
        : key_row(name, shape, doc) {}
    /// A row of a base structure's table.
    template <class Base>
    requires(std::derived_from<S, Base> && !std::same_as<S, Base>) key(const key<Base>& base_key)
        : key_row(base_key.shifted(step_detail::offset_of_base<S, Base>())) {}

    key required() && {
        shown_.needed = true;
        return std::move(*this);
    }
    key required_without(const std::vector<std::string_view>& others) && {
        shown_.needed = true;
        shown_.instead = others;
        return std::move(*this);
    }
    /// The key has an effect only beside one of `others`, and is refused without.
    key only_with(const std::vector<std::string_view>& others) && {
        shown_.beside = others;
        return std::move(*this);
    }
    key not_with(const std::vector<std::string_view>& others) && {
        exclude(others);
        return std::move(*this);
    }
    key up_to(std::uint64_t max) && {
        shown_.max = max;
        return std::move(*this);
    }
    key within(size_bounds bounds) && {
        shown_.within = bounds;
        return std::move(*this);
    }
    /// Refuses a time of 0.
    key positive() && {
        shown_.positive = true;
        return std::move(*this);
    }
    /// `fault` returns an error message for a location, or "".
    key refused_by(std::string (*fault)(const location&)) && {
        shown_.fault = fault;
        return std::move(*this);
    }
};

/// The table of step S.
template <class S>
struct keys {
    keys() = default;
    keys(std::initializer_list<key<S>> all) : rows(all.begin(), all.end()) {}
    /// Keys of which a step has at most one.
    keys one_of(const std::vector<std::string_view>& names) && {
        for (auto& row : rows)
            if (std::ranges::find(names, row.name()) != names.end()) row.exclude(names);
        return std::move(*this);
    }

    key_rows rows;
};

/// Fills the fields of `step`, and reports unknown keys.
template <class S>
void read_keys(const key_rows& rows, const reader& r, S& step) {
    read_rows(rows, r, &step);
    if constexpr (requires { step.finish(r); }) step.finish(r);
}
template <class S>
void read_keys(const keys<S>& all, const reader& r, S& step) {
    read_keys(all.rows, r, step);
}

template <class S>
std::vector<step_key> shown(const keys<S>& all) {
    return shown(all.rows, &config::default_of<S>());
}

template <class S>
keys<S> joined(keys<S> all, const keys<S>& more) {
    append(all.rows, more.rows);
    return all;
}

/// The keys of `some`, followed by `more`.
template <class S, class Base>
keys<S> extended(const keys<Base>& some, const keys<S>& more = {}) {
    keys<S> all;
    for (const auto& row : some.rows)
        all.rows.push_back(row.shifted(step_detail::offset_of_base<S, Base>()));
    return joined(std::move(all), more);
}

template <class S>
step_kind step_of(std::string_view name, std::string_view doc, keys<S> all = {}) {
    return step_detail::make_kind(
        name, doc, std::move(all.rows), &config::default_of<S>(),
        [](const key_rows& rows, const reader& r) -> action {
            S step{};
            read_keys(rows, r, step);
            if constexpr (requires { step.plan(); })
                return step.plan();
            else
                return {step.text(), [step](scenario_context& ctx) { step.run(ctx); }};
        });
}

}  // namespace trn::scenario
