// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/step_table.h"

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

key_row key_row::shifted(std::ptrdiff_t by) const {
    auto row = *this;
    row.offset_ += by;
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
    if (type_ != nullptr && (needed || r.has(shown_.name)))
        type_->read(shown_, r, static_cast<char*>(step) + offset_);
}

void append(key_rows& to, const key_rows& more) {
    for (const auto& row : more) to.push_back(row);
}

std::vector<step_key> shown(const key_rows& rows, const void* defaults) {
    std::vector<step_key> all;
    for (const auto& row : rows) all.push_back(row.shown(defaults));
    return all;
}

void read_rows(const key_rows& rows, const reader& r, void* step) {
    std::vector<std::string_view> names;
    for (const auto& row : rows) names.push_back(row.name());
    r.only(names);
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
