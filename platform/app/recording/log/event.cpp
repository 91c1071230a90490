// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/log/event.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace trn::recording {

namespace {

constexpr std::array names{
    std::pair{kind::inspect_bar, "look at BAR"},
    std::pair{kind::config_read, "configuration read"},
    std::pair{kind::config_write, "configuration write"},
    std::pair{kind::bar_read, "BAR read"},
    std::pair{kind::bar_write, "BAR write"},
    std::pair{kind::map, "map of host memory"},
    std::pair{kind::unmap, "unmap of host memory"},
    std::pair{kind::carry, "carrier of messages"},
    std::pair{kind::answer, "answer to a DMA read"},
    std::pair{kind::messages_room, "room for messages"},
    std::pair{kind::set_vector, "interrupt set-up"},
    std::pair{kind::reset, "function reset"},
    std::pair{kind::detach, "detach"},
    std::pair{kind::control, "control call"},
    std::pair{kind::typed, "typed text"},
    std::pair{kind::end, "end"},
    std::pair{kind::join, "join"},
    std::pair{kind::has_read, "DMA read"},
    std::pair{kind::has_written, "DMA write"},
    std::pair{kind::question, "DMA read by message"},
    std::pair{kind::post, "DMA write by message"},
    std::pair{kind::raised, "interrupt"},
    std::pair{kind::access_ended, "end of a BAR access"},
};

void put_number(std::vector<std::uint8_t>& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 0x80));
    out.push_back(static_cast<std::uint8_t>(value));
}

/// Reads a number in LEB128, which must have its shortest form. Nothing when `input` ends inside
/// it.
std::optional<std::uint64_t> take_number(std::span<const std::uint8_t>& input) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < input.size(); ++i) {
        const std::uint64_t part = input[i] & 0x7f;
        const bool too_large = i == 9 && input[i] > 1;
        if (too_large || (i > 0 && input[i] == 0))
            throw recording_error("the recording is damaged: a number is malformed");
        value |= part << 7 * i;
        if ((input[i] & 0x80) == 0) {
            input = input.subspan(i + 1);
            return value;
        }
    }
    return std::nullopt;
}

std::uint64_t later(std::uint64_t start, std::uint64_t distance) {
    if (start + distance < start)
        throw recording_error("the recording is damaged: its time wraps around");
    return start + distance;
}

std::uint32_t narrow(std::uint64_t value) {
    if (value >> 32 != 0)
        throw recording_error("the recording is damaged: an index is out of range");
    return static_cast<std::uint32_t>(value);
}

}  // namespace

void cannot_write(const std::string& file, int error) {
    const auto text = fmt::format("cannot write {}: {}", file, std::strerror(error));
    for (const int no_room : {ENOSPC, EDQUOT, EFBIG, EIO})
        if (error == no_room) throw write_error(text);
    throw recording_error(text);
}

std::string_view to_string(kind type) {
    for (const auto& [known, name] : names)
        if (known == type) return name;
    return {};
}

std::vector<std::uint8_t> kept(std::span<const std::uint8_t> bytes) {
    if (bytes.size() <= max_kept) return {bytes.begin(), bytes.end()};
    std::uint64_t digest = 0xcbf2'9ce4'8422'2325;  // FNV-1a over 8 bytes at a time
    std::size_t offset = 0;
    for (; offset + 8 <= bytes.size(); offset += 8) {
        std::uint64_t word = 0;
        for (unsigned i = 0; i < 8; ++i) word |= std::uint64_t{bytes[offset + i]} << 8 * i;
        digest = (digest ^ word) * 0x100'0000'01b3;
        digest ^= digest >> 32;
    }
    for (; offset < bytes.size(); ++offset) digest = (digest ^ bytes[offset]) * 0x100'0000'01b3;
    std::vector<std::uint8_t> out(8);
    for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<std::uint8_t>(digest >> 8 * i);
    return out;
}

void encoder::encode(const event& e, std::vector<std::uint8_t>& out) {
    encode_head(e, e.bytes.size(), out);
    out.insert(out.end(), e.bytes.begin(), e.bytes.end());
}

void encoder::encode_head(const event& e, std::size_t size, std::vector<std::uint8_t>& out) {
    out.push_back(static_cast<std::uint8_t>(e.type));
    out.push_back(e.flag ? 1 : 0);
    for (const std::uint64_t number :
         {std::uint64_t{e.function}, std::uint64_t{e.index}, e.time - time_, e.deltas - deltas_,
          e.address, e.size, e.delay, std::uint64_t{size}})
        put_number(out, number);
    time_ = e.time;
    deltas_ = e.deltas;
}

std::optional<event> decoder::decode(std::span<const std::uint8_t>& input) {
    auto rest = input;
    if (rest.size() < 2) return std::nullopt;
    const auto type = static_cast<kind>(rest[0]);
    if (to_string(type).empty() || rest[1] > 1)
        throw recording_error(
            fmt::format("the recording is damaged: there is no event {}", rest[0]));
    event e{.type = type, .flag = rest[1] == 1};
    rest = rest.subspan(2);
    std::array<std::uint64_t, 8> numbers{};
    for (auto& number : numbers) {
        const auto taken = take_number(rest);
        if (!taken) return std::nullopt;
        number = *taken;
    }
    const auto [function, index, time, deltas, address, size, delay, length] = numbers;
    if (length > event::largest)
        throw recording_error(
            fmt::format("the recording is damaged: an event of {} bytes", length));
    if (rest.size() < length) return std::nullopt;
    e.function = narrow(function);
    e.index = narrow(index);
    e.time = time_ = later(time_, time);
    e.deltas = deltas_ = later(deltas_, deltas);
    e.address = address;
    e.size = size;
    e.delay = delay;
    e.bytes.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(length));
    input = rest.subspan(length);
    return e;
}

}  // namespace trn::recording
