// SPDX-License-Identifier: Apache-2.0
#include "models/assembler/program_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace trn::isa {

namespace {

using namespace std::string_view_literals;
constexpr std::string_view magic = "TRNPSET\0"sv;
constexpr std::uint32_t version = 1;
constexpr std::size_t header_bytes = 64, entry_bytes = 16;

std::uint64_t number(std::span<const std::uint8_t> file, std::size_t at, unsigned size) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) value |= std::uint64_t{file[at + i]} << 8 * i;
    return value;
}

void put(std::vector<std::uint8_t>& file, std::size_t at, std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) file[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
}

std::size_t whole_words(std::size_t bytes) {
    return (bytes + word_bytes - 1) / word_bytes * word_bytes;
}

}  // namespace

bool is_program_set(std::span<const std::uint8_t> file) {
    return file.size() >= magic.size() &&
           std::equal(magic.begin(), magic.end(), file.begin(),
                      [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

std::vector<std::uint8_t> write_program_set(std::span<const stream> streams) {
    std::vector<std::uint8_t> file(whole_words(header_bytes + streams.size() * entry_bytes));
    std::copy(magic.begin(), magic.end(), file.begin());
    put(file, 8, version, 4);
    put(file, 12, streams.size(), 4);
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const std::size_t entry = header_bytes + i * entry_bytes;
        put(file, entry, static_cast<unsigned>(streams[i].engine.value()), 4);
        put(file, entry + 4, streams[i].words.size() / word_bytes, 4);
        put(file, entry + 8, file.size(), 8);
        file.insert(file.end(), streams[i].words.begin(), streams[i].words.end());
    }
    return file;
}

std::vector<stream> read_program_set(std::span<const std::uint8_t> file) {
    if (!is_program_set(file) || file.size() < header_bytes)
        throw program_set_error("not a program set: it does not begin with TRNPSET");
    if (number(file, 8, 4) != version)
        throw program_set_error(
            fmt::format("program set of version {}, expected {}", number(file, 8, 4), version));
    const std::uint64_t count = number(file, 12, 4);
    if (count == 0 || count > engine_count ||
        file.size() < header_bytes + static_cast<std::size_t>(count) * entry_bytes)
        throw program_set_error(
            fmt::format("{} streams, expected 1 to 5 and their entries", count));
    std::vector<stream> streams;
    unsigned engines = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t entry = header_bytes + i * entry_bytes;
        const std::uint64_t engine = number(file, entry, 4), offset = number(file, entry + 8, 8);
        const std::uint64_t size = number(file, entry + 4, 4) * word_bytes;
        if (engine >= engine_count || (engines >> engine & 1) != 0)
            throw program_set_error(
                fmt::format("stream {}: engine {} is unknown or given twice", i, engine));
        engines |= 1u << engine;
        if (offset % word_bytes != 0 || offset > file.size() || size > file.size() - offset)
            throw program_set_error(fmt::format("stream {}: its words are not inside the file", i));
        const auto words = file.subspan(offset, size);
        streams.push_back({static_cast<isa::engine>(engine), {words.begin(), words.end()}, {}});
    }
    return streams;
}

}  // namespace trn::isa
