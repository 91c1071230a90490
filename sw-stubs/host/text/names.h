// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

namespace trn {

/// Spelling of an enumerator on command lines and in scenario files.
template <class E>
struct named {
    std::string_view name;
    E value;
};

/// All names of an enumeration: specialised with a constexpr array `list` of `named<E>`.
template <class E>
struct names_of;

/// The name of `value`, or "?".
template <class E>
std::string_view name_of(E value) {
    const auto found = std::ranges::find(names_of<E>::list, value, &named<E>::value);
    return found == names_of<E>::list.end() ? "?" : found->name;
}

}  // namespace trn
