// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace trn {

/// Like std::memcpy(), but writes past the host's caches where that pays (Intel processors with
/// AVX2): faster for a large copy that is evicted before anything reads it.
void streaming_copy(std::uint8_t* target, const std::uint8_t* source, std::size_t size);

}  // namespace trn
