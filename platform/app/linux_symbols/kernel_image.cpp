// SPDX-License-Identifier: Apache-2.0
#include "platform/app/linux_symbols/kernel_image.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "platform/framework/config/file.h"

namespace trn {

namespace {

constexpr std::uint64_t max_image = std::uint64_t{1} << 28;

}  // namespace

bool is_linux_image(const std::filesystem::path& file) {
    constexpr std::string_view magic = "RSC\x05";
    constexpr std::size_t offset = 0x38;
    std::array<char, offset + 4> header{};
    std::error_code unreadable;
    if (!std::filesystem::is_regular_file(file, unreadable)) return false;
    std::ifstream in(file, std::ios::binary);
    in.read(header.data(), header.size());
    return in && std::string_view(header.data() + offset, magic.size()) == magic;
}

kernel_image::kernel_image(const std::filesystem::path& file)
    : file_(file), bytes_(read_file(file, max_image)), symbols_(bytes_) {
    const auto start = symbols_.find("_start"), end = symbols_.find("_end");
    if (!start || !end || *end < *start)
        throw kernel_image_error("its symbols have neither _start nor _end");
    first_ = *start;
    end_ = *end;
    const auto types = symbols_.find("__start_BTF"), types_end = symbols_.find("__stop_BTF");
    if (!types || !types_end || *types_end < *types)
        throw kernel_image_error("it has no BTF (CONFIG_DEBUG_INFO_BTF)");
    types_ = std::make_unique<const btf>(at(*types, *types_end - *types));
}

std::span<const std::uint8_t> kernel_image::at(std::uint64_t address, std::size_t size) const {
    const std::uint64_t offset = std::min<std::uint64_t>(address - first_, bytes_.size());
    return std::span(bytes_).subspan(offset, std::min<std::uint64_t>(size, bytes_.size() - offset));
}

}  // namespace trn
