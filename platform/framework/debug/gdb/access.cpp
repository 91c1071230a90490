// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb/access.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "platform/framework/attach/control/hex.h"
#include "platform/framework/debug/gdb/packet.h"
#include "platform/framework/debug/gdb/syntax.h"

namespace trn::gdb {
namespace {

constexpr unsigned general_registers = debug_target::pc + 1;

std::string register_hex(std::uint64_t value) {
    return to_hex(std::as_bytes(std::span(&value, 1)));
}

std::optional<std::uint64_t> register_value(std::string_view hex) {
    const auto bytes = from_hex(hex);
    if (!bytes || bytes->size() != 8) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes->data(), 8);
    return value;
}

std::string done_or(bool done, std::string_view error) {
    return std::string(done ? "OK" : error);
}

}  // namespace

std::string read_registers(debug_target& hart) {
    std::string all;
    for (unsigned i = 0; i < general_registers; ++i)
        all += register_hex(hart.read_register(i).value_or(0));
    return all;
}

std::string write_registers(debug_target& hart, std::string_view hex) {
    if (hex.size() != 16 * general_registers || !from_hex(hex)) return std::string(bad_request);
    for (unsigned i = 0; i < general_registers; ++i)
        hart.write_register(i, *register_value(hex.substr(16 * i, 16)));
    return "OK";
}

std::string read_register(debug_target& hart, std::string_view number_text) {
    const auto n = number(number_text);
    const auto value = n && *n <= debug_target::priv ? hart.read_register(static_cast<unsigned>(*n))
                                                     : std::nullopt;
    return value ? register_hex(*value) : std::string(bad_request);
}

std::string write_register(debug_target& hart, std::string_view assignment) {
    const auto [name, hex] = cut(assignment, '=');
    const auto n = number(name);
    const auto value = register_value(hex);
    return done_or(n && value && *n <= debug_target::priv &&
                       hart.write_register(static_cast<unsigned>(*n), *value),
                   bad_request);
}

std::string read_memory(debug_target& hart, std::string_view range_text) {
    const auto wanted = parse_range(range_text);
    if (!wanted) return std::string(bad_request);
    std::array<std::byte, largest_packet / 2> buffer;
    const auto bytes =
        std::span(buffer).first(std::min<std::uint64_t>(wanted->length, buffer.size()));
    const auto done = hart.memory().peek(wanted->address, bytes);
    if (done == 0 && wanted->length != 0) return std::string(bad_address);
    return to_hex(bytes.first(done));
}

std::string write_memory(debug_target& hart, std::string_view range_text,
                         std::span<const std::byte> bytes) {
    const auto wanted = parse_range(range_text);
    if (!wanted || wanted->length != bytes.size()) return std::string(bad_request);
    // All or nothing: GDB reports a refused write as not done.
    std::vector<std::byte> before(bytes.size());
    if (hart.memory().peek(wanted->address, before) != bytes.size())
        return std::string(bad_address);
    const auto done = hart.memory().poke(wanted->address, bytes);
    for_each_module<caches_code>([](const auto&, caches_code& cache) { cache.invalidate_code(); });
    return done_or(done == bytes.size(), bad_address);
}

}  // namespace trn::gdb
