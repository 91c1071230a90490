// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/language/step_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trn::scenario {

key_row::key_row(std::string_view name, value_shape shape, std::string_view doc)
    : shown_{.name = name, .doc = doc, .shape = shape} {}

key_row::key_row(std::string_view name, const field_type& type, std::ptrdiff_t offset,
                 std::string_view doc)
    : shown_{.name = name,
             .doc = doc,
             .shape = type.shape,
             .choices = type.choices(),
             .max = type.max},
      type_(&type),
      offset_(offset) {}

key_row::key_row(const key_row&) = default;
key_row::key_row(key_row&&) noexcept = default;
key_row::~key_row() = default;

key_row key_row::shifted(std::ptrdiff_t distance) const {
    auto row = *this;
    row.offset_ += distance;
    return row;
}

step_key key_row::shown(const void* defaults) const {
    auto all = shown_;
    if (!all.needed && type_ != nullptr)
        all.otherwise = type_->show(static_cast<const char*>(defaults) + offset_);
    return all;
}

void key_row::read(const reader& r, void* step) const {
    const auto has = [&](std::string_view other) { return r.has(other); };
    const bool needed = shown_.needed && std::ranges::none_of(shown_.instead, has);
    if (needed && !r.has(shown_.name) && !shown_.instead.empty() && r.node().is_map())
        return r.node().report(mistake::missing_key,
                               fmt::format("key '{}' is missing; without it '{}' is needed",
                                           shown_.name, fmt::join(shown_.instead, "' or '")));
    if (type_ != nullptr && (needed || r.has(shown_.name)))
        type_->read(shown_, r, static_cast<char*>(step) + offset_);
}

void key_row::check(const reader& r) const {
    if (!r.has(shown_.name) || shown_.beside.empty()) return;
    if (std::ranges::any_of(shown_.beside, [&](auto other) { return r.has(other); })) return;
    r.refuse({shown_.name}, fmt::format("'{}' has no effect without '{}'", shown_.name,
                                        fmt::join(shown_.beside, "' or '")));
}

bool key_row::excludes(std::string_view other) const {
    return std::ranges::find(shown_.apart, other) != shown_.apart.end();
}

void key_row::exclude(std::span<const std::string_view> group) {
    for (const auto other : group)
        if (other != shown_.name) shown_.apart.push_back(other);
}

void append(key_rows& rows, const key_rows& more) {
    for (const auto& row : more) rows.push_back(row);
}

std::vector<step_key> shown(const key_rows& rows, const void* defaults) {
    std::vector<step_key> all;
    for (const auto& row : rows) all.push_back(row.shown(defaults));
    return all;
}

namespace {

/// Reports the second of two keys that exclude each other.
void check_pairs(const key_rows& rows, const reader& r) {
    std::vector<const key_row*> given;
    for (const auto& name : r.node().keys()) {
        const auto row = std::ranges::find(rows, name, &key_row::name);
        if (row == rows.end()) continue;
        const auto other = std::ranges::find_if(given, [&](const auto* before) {
            return before->excludes(name) || row->excludes(before->name());
        });
        if (other != given.end())
            r.refuse({row->name()},
                     fmt::format("'{}' cannot be combined with '{}'", name, (*other)->name()));
        given.push_back(&*row);
    }
}

}  // namespace

void read_rows(const key_rows& rows, const reader& r, void* step) {
    std::vector<std::string_view> names;
    for (const auto& row : rows) names.push_back(row.name());
    r.only(names);
    for (const auto& row : rows) row.check(r);
    check_pairs(rows, r);
    for (const auto& row : rows) row.read(r, step);
}

step_kind step_detail::make_kind(std::string_view name, std::string_view doc, key_rows rows,
                                 const void* defaults,
                                 action (*read)(const key_rows&, const reader&)) {
    step_kind made{name, doc, step_kind::form::mapping, shown(rows, defaults)};
    made.read = [rows = std::move(rows), read](const reader& r) { return read(rows, r); };
    return made;
}

}  // namespace trn::scenario
