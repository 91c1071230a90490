// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace trn {

inline constexpr std::uint64_t first_mix = 0xcbf29ce484222325u;

/// Continues the FNV-1a hash `hash` with these bytes. The result is the same on every host.
inline std::uint64_t mix_in(std::uint64_t hash, std::string_view bytes) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

}  // namespace trn
