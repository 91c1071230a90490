// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/location.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "platform/framework/config/units.h"

namespace trn {

namespace {

std::variant<std::uint64_t, std::string> parse_offset(std::string_view text) {
    const auto number = config::parse_unsigned(text);
    if (const auto* value = std::get_if<std::uint64_t>(&number)) return *value;
    const auto size = config::parse_bytes(text);
    if (const auto* value = std::get_if<bytes>(&size)) return value->value;
    return fmt::format("'{}' is not an offset: give bytes or a size such as 16 MiB", text);
}

/// The number behind `prefix`, if `text` is that.
std::optional<std::uint32_t> numbered(std::string_view text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return std::nullopt;
    text.remove_prefix(prefix.size());
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

}  // namespace

std::variant<location, std::string> location::parse(std::string_view text) {
    const auto at = text.find('@');
    const auto name = trimmed(text.substr(0, at));
    location result;
    if (at != std::string_view::npos) {
        const auto offset = parse_offset(trimmed(text.substr(at + 1)));
        if (const auto* wrong = std::get_if<std::string>(&offset)) return *wrong;
        result.offset = std::get<std::uint64_t>(offset);
    }
    if (name == "host") return result;
    if (name == "axi" && at != std::string_view::npos) {
        result.what = kind::axi;
        return result;
    }
    if (const auto stack = numbered(name, "hbm")) {
        result.what = kind::hbm;
        result.number = *stack;
        return result;
    }
    if (const auto core = numbered(name, "sbuf")) {
        result.what = kind::sbuf;
        result.number = *core;
        return result;
    }
    return fmt::format(
        "'{}' is not a place: host, hbm0 to hbm3, sbuf0 to sbuf7, each with @OFFSET, or "
        "axi@ADDRESS",
        text);
}

std::string location::name() const {
    switch (what) {
    case kind::host:
        return "host";
    case kind::hbm:
        return fmt::format("hbm{}", number);
    case kind::sbuf:
        return fmt::format("sbuf{}", number);
    case kind::axi:
        return "axi";
    }
    return "";
}

std::string location::text() const {
    return what == kind::host && offset == 0 ? name() : fmt::format("{}@{:#x}", name(), offset);
}

location location::plus(std::uint64_t bytes) const {
    location moved = *this;
    moved.offset += bytes;
    if (moved.offset < offset) refuse_range(bytes);
    return moved;
}

/// \throws device_error
void location::refuse_range(std::uint64_t bytes) const {
    throw device_error(
        TRN_INVALID_ARGUMENT,
        fmt::format("{:#x} bytes at {} pass the end of the address space", bytes, text()));
}

std::uint64_t location::address(const device& on, std::uint64_t size) const {
    const auto info = on.info();
    const auto inside = [&](std::uint64_t memory, std::uint32_t count, std::string_view name) {
        if (number >= count)
            throw device_error(TRN_INVALID_ARGUMENT,
                               fmt::format("there is no {}{}: {} has {}0 to {}{}", name, number,
                                           info.name, name, name, count - 1));
        if (offset > memory || size > memory - offset)
            throw device_error(TRN_INVALID_ARGUMENT,
                               fmt::format("{:#x} bytes at {} do not fit: it has {}", size, text(),
                                           to_string(bytes{memory})));
    };
    switch (what) {
    case kind::host:
        throw device_error(TRN_INVALID_ARGUMENT, "host memory has no fixed address");
    case kind::hbm:
        inside(info.stack_size, info.stacks, "hbm");
        break;
    case kind::sbuf:
        inside(info.state_buffer_size, info.cores, "sbuf");
        break;
    case kind::axi:
        if (trn_range_wraps(offset, size)) refuse_range(size);
        return offset;
    }
    return what == kind::hbm ? trn_hbm_address(on, number, offset)
                             : trn_sbuf_address(on, number, offset);
}

std::uint32_t location::core(const device& on) const {
    switch (what) {
    case kind::hbm: {
        const auto info = on.info();
        return number * info.cores / info.stacks;
    }
    case kind::sbuf:
        return number;
    default:
        return 0;
    }
}

}  // namespace trn
