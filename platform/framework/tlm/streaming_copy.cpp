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

/// Preconditions: `target` and `size` are multiples of a line.
[[gnu::target("avx2")]] void copy_lines(std::uint8_t* target, const std::uint8_t* source,
                                        std::size_t size) {
    for (std::size_t offset = 0; offset < size; offset += line) {
        const auto* source_line = reinterpret_cast<const __m256i*>(source + offset);
        auto* target_line = reinterpret_cast<__m256i*>(target + offset);
        const __m256i low = _mm256_loadu_si256(source_line),
                      high = _mm256_loadu_si256(source_line + 1);
        _mm256_stream_si256(target_line, low);
        _mm256_stream_si256(target_line + 1, high);
    }
    _mm_sfence();
}
#endif

}  // namespace

void streaming_copy(std::uint8_t* target, const std::uint8_t* source, std::size_t size) {
#ifdef __x86_64__
    // Measured on Intel processors; on another processor such copies were slower in total.
    static const bool pays = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_is("intel") != 0;
    if (pays && size >= line) {
        const std::size_t head = -reinterpret_cast<std::uintptr_t>(target) % line;
        const std::size_t lines = (size - head) / line * line;
        std::memcpy(target, source, head);
        copy_lines(target + head, source + head, lines);
        target += head + lines;
        source += head + lines;
        size -= head + lines;
    }
#endif
    std::memcpy(target, source, size);
}

}  // namespace trn
