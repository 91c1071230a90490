// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/firmware_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>

#include "platform/framework/config/file.h"
#include "platform/framework/config/share_folder.h"

namespace trn {

namespace fs = std::filesystem;

fs::path firmware_folder() {
    if (const char* given = std::getenv("TRNVP_FIRMWARE"); given != nullptr && *given != 0)
        return given;
    const auto folder = share_folder("firmware", {"firmware", "../firmware"}, "bootrom.bin");
    return folder.empty() ? "build/firmware" : folder;
}

namespace {
std::map<std::string, fs::path> stand_ins;
}

void stand_in_for_firmware(const std::string& name_or_path, const fs::path& file) {
    stand_ins[name_or_path] = file;
}

fs::path find_firmware(const std::string& name_or_path) {
    if (const auto known = stand_ins.find(name_or_path); known != stand_ins.end())
        return known->second;
    const fs::path path = name_or_path;
    return path.has_parent_path() ? path : firmware_folder() / path;
}

std::string firmware_hint(const std::string& name_or_path) {
    if (fs::path(name_or_path).has_parent_path()) return {};
    std::error_code error;
    const bool here = fs::is_regular_file(name_or_path, error);
    return fmt::format(
        "; a name without '/' is looked for in the firmware folder; type './{}' for {} file in the "
        "current folder",
        name_or_path, here ? "the" : "a");
}

std::vector<std::uint8_t> read_firmware(const std::string& name_or_path, std::uint64_t limit) {
    const auto path = find_firmware(name_or_path);
    std::error_code unknown;
    if (const auto length = fs::file_size(path, unknown); !unknown && length > limit)
        throw std::runtime_error(fmt::format("firmware '{}' has {} bytes, at most {} fit",
                                             path.string(), length, limit));
    try {
        return read_file(path, limit);
    } catch (const file_error& why) {
        throw std::runtime_error(fmt::format("cannot read firmware '{}': {}{}", path.string(),
                                             why.what(), firmware_hint(name_or_path)));
    }
}

namespace {

/// CRC-32C, reflected polynomial 0x82f63b78 (contract section 4.4).
std::uint32_t crc32c(std::span<const std::uint8_t> bytes) {
    std::uint32_t crc = ~0u;
    for (const std::uint8_t byte : bytes) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    }
    return ~crc;
}

}  // namespace

std::vector<std::uint8_t> pack_firmware(const elf_program& program, const std::string& version,
                                        std::uint64_t limit) {
    constexpr std::size_t header_size = 64;
    const auto flat = flatten(program, limit - header_size);
    if (!flat)
        throw std::runtime_error(fmt::format("the program's segments do not fit a slot of {} bytes",
                                             limit - header_size));
    const auto& payload = flat->bytes;
    std::vector<std::uint8_t> packed(header_size + payload.size());
    const auto put = [&packed](std::size_t offset, auto value) {
        std::memcpy(packed.data() + offset, &value, sizeof value);
    };
    put(0, std::uint32_t{0x494e5254});  // "TRNI"
    put(4, std::uint32_t{1});
    put(8, static_cast<std::uint32_t>(payload.size()));
    put(12, crc32c(payload));
    put(16, flat->first);
    put(24, program.entry);
    std::memcpy(packed.data() + 32, version.data(), std::min<std::size_t>(version.size(), 27));
    put(60, crc32c(std::span(packed).first(60)));
    std::copy(payload.begin(), payload.end(), packed.begin() + header_size);
    return packed;
}

}  // namespace trn
