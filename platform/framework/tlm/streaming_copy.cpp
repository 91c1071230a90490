// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/streaming_copy.h"

#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace trn {

namespace {

#ifdef __x86_64__
constexpr std::size_t line = 64;  // bytes of a cache line

/// Preconditions: `to` and `size` are multiples of a line.
[[gnu::target("avx2")]] void copy_lines(std::uint8_t* to, const std::uint8_t* from,
                                        std::size_t size) {
    for (std::size_t at = 0; at < size; at += line) {
        const auto* source = reinterpret_cast<const __m256i*>(from + at);
        auto* target = reinterpret_cast<__m256i*>(to + at);
        const __m256i low = _mm256_loadu_si256(source), high = _mm256_loadu_si256(source + 1);
        _mm256_stream_si256(target, low);
        _mm256_stream_si256(target + 1, high);
    }
    _mm_sfence();
}
#endif

}  // namespace

void streaming_copy(std::uint8_t* to, const std::uint8_t* from, std::size_t size) {
#ifdef __x86_64__
    // Measured on Intel processors; on another one such copies were slower in total.
    static const bool pays = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_is("intel") != 0;
    if (pays && size >= line) {
        const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % line;
        const std::size_t lines = (size - head) / line * line;
        std::memcpy(to, from, head);
        copy_lines(to + head, from + head, lines);
        to += head + lines;
        from += head + lines;
        size -= head + lines;
    }
#endif
    std::memcpy(to, from, size);
}

}  // namespace trn
