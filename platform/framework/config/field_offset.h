// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace trn::config {

/// A default-constructed structure: the source of defaults, and where offsets are measured.
template <class S>
const S& default_of() {
    static const S structure{};
    return structure;
}

/// Offset in bytes of a part (a field or a base) of default_of<S>(). Tables of fields keep offsets
/// instead of code for each field.
template <class S>
std::ptrdiff_t offset_of(const void* part) {
    return static_cast<const char*>(part) -
           static_cast<const char*>(static_cast<const void*>(&default_of<S>()));
}

}  // namespace trn::config
