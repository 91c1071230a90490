// SPDX-License-Identifier: Apache-2.0
#include "models/soc/image_store/boot_images.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <map>

#include "platform/framework/config/units.h"
#include "platform/framework/loader/elf.h"
#include "platform/framework/loader/firmware_file.h"

namespace trn {

namespace {

constexpr std::uint64_t longest_image = std::uint64_t{256} << 20;

/// The bytes of a file, and where a program is linked.
struct image_file {
    std::shared_ptr<const initial_content> content;
    std::optional<std::uint64_t> first;  // address of its first byte; nothing: it is no program
    bool movable = true;
};

image_file program_of(const std::vector<std::uint8_t>& file, const std::string& name) try {
    const auto program = read_elf(file, name);
    const auto flat = flatten(program, longest_image);
    if (!flat)
        throw boot_image_error(fmt::format("{}: its segments have no bytes, or span more than {}",
                                           name, to_string(trn::bytes{longest_image})));
    return {std::make_shared<const initial_content>(flat->bytes), flat->first,
            program.position_independent};
} catch (const elf_error& why) {
    throw boot_image_error(why.what());
}

image_file read_image_file(const std::string& name) {
    std::vector<std::uint8_t> file;
    try {
        file = read_firmware(name, longest_image);
    } catch (const std::runtime_error& why) {
        throw boot_image_error(why.what());
    }
    if (file.empty()) throw boot_image_error(fmt::format("{} is empty", name));
    if (is_elf(file)) return program_of(file, name);
    return {std::make_shared<const initial_content>(file), std::nullopt, true};
}

/// Kept until the process ends: each server of a rack has a store of the same files.
const image_file& known_image_file(const std::string& name) {
    struct read_file {
        std::array<std::int64_t, 5> version;
        image_file read;
    };
    static std::map<std::string, read_file> files;
    struct stat now {};
    const auto path = find_firmware(name).string();
    const bool is_there = stat(path.c_str(), &now) == 0;
    const std::array<std::int64_t, 5> version{static_cast<std::int64_t>(now.st_dev),
                                              static_cast<std::int64_t>(now.st_ino), now.st_size,
                                              now.st_mtim.tv_sec, now.st_mtim.tv_nsec};
    if (const auto found = files.find(path);
        found != files.end() && is_there && found->second.version == version)
        return found->second.read;
    return files.insert_or_assign(path, read_file{version, read_image_file(name)})
        .first->second.read;
}

boot_image read_image(const boot_image_name& wanted) {
    const auto& file = known_image_file(wanted.file);
    if (!file.first && !wanted.address)
        throw boot_image_error(
            fmt::format("{} is not an ELF program, so it has no address", wanted.file),
            wanted.file + "@0x80000000");
    const auto address = wanted.address ? *wanted.address : *file.first;
    if (!file.movable && address != *file.first)
        throw boot_image_error(fmt::format("{} is linked for {:#x}", wanted.file, *file.first),
                               wanted.file);
    return {wanted.file, address, file.content, file.movable};
}

void check_place(const boot_image& image, const boot_ram& ram) {
    const std::uint64_t offset = image.address - ram.base;
    if (image.address >= ram.base && offset < ram.size && image.size() <= ram.size - offset) return;
    throw boot_image_error(
        fmt::format("{} at {:#x} to {:#x} is outside the RAM, {:#x} to {:#x}", image.file,
                    image.address, image.end(), ram.base, ram.base + ram.size),
        image.movable && image.size() <= ram.size ? fmt::format("{}@{:#x}", image.file, ram.base)
                                                  : "");
}

void check_overlaps(const std::vector<boot_image>& images) {
    for (std::size_t i = 0; i < images.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) {
            const boot_image &a = images[k], &b = images[i];
            if (a.end() <= b.address || b.end() <= a.address) continue;
            constexpr std::uint64_t step = 0x20'0000;  // alignment of a kernel's load address
            throw boot_image_error(
                fmt::format("{} at {:#x} to {:#x} overlaps {} at {:#x} to {:#x}", b.file, b.address,
                            b.end(), a.file, a.address, a.end()),
                fmt::format("{}@{:#x}", b.file, (a.end() + step - 1) / step * step));
        }
}

}  // namespace

boot_image_name parse_boot_image(std::string_view text) {
    const auto separator = text.rfind('@');
    boot_image_name out{std::string(text.substr(0, separator)), std::nullopt};
    if (out.file.empty())
        throw boot_image_error(fmt::format("'{}' names no file", text), "FILE@0x80000000");
    if (separator == text.npos) return out;
    const auto parsed = config::parse_unsigned(text.substr(separator + 1));
    if (const auto* const address = std::get_if<std::uint64_t>(&parsed)) {
        out.address = *address;
        return out;
    }
    throw boot_image_error(
        fmt::format("'{}': '{}' is not an address", text, text.substr(separator + 1)),
        out.file + "@0x80000000");
}

std::vector<std::string> split_boot_images(std::string_view list) {
    std::vector<std::string> names;
    while (!list.empty()) {
        const auto comma = list.find(',');
        if (const auto name = list.substr(0, comma); !name.empty()) names.emplace_back(name);
        list = comma == list.npos ? std::string_view{} : list.substr(comma + 1);
    }
    return names;
}

std::vector<boot_image> read_boot_images(std::string_view list, const boot_ram& ram) {
    std::vector<boot_image> images;
    for (const auto& name : split_boot_images(list)) {
        images.push_back(read_image(parse_boot_image(name)));
        check_place(images.back(), ram);
    }
    check_overlaps(images);
    return images;
}

}  // namespace trn
