// SPDX-License-Identifier: Apache-2.0
#include "platform/app/host_options/collective_firmware.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "platform/framework/loader/firmware_file.h"

namespace trn {

std::vector<std::uint8_t> read_collective_firmware(const std::string& name_or_path) {
    constexpr std::uint64_t packed = 65536 + 64;             // instruction memory, and the header
    constexpr std::uint64_t image = std::uint64_t{1} << 20;  // what is too long, firmware refuses
    constexpr std::uint64_t program = std::uint64_t{16} << 20;  // with debug information
    auto file = read_firmware(name_or_path, program);
    const auto name = std::filesystem::path(name_or_path).filename().string();
    if (is_elf(file)) return pack_firmware(read_elf(file, name_or_path), name, packed);
    if (file.size() > image)
        throw std::runtime_error(fmt::format("firmware '{}' has {} bytes, at most {} fit",
                                             name_or_path, file.size(), image));
    return file;
}

}  // namespace trn
