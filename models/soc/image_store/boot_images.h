// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/tlm/backing_store.h"

namespace trn {

/// An error in a list of images: a sentence, and a corrected text.
class boot_image_error : public std::runtime_error {
public:
    explicit boot_image_error(const std::string& message, std::string suggestion = {})
        : runtime_error(message), suggestion_(std::move(suggestion)) {}
    const std::string& suggestion() const { return suggestion_; }

private:
    std::string suggestion_;
};

/// "FILE@ADDRESS", or "FILE", an ELF program with its own addresses. A position-independent program
/// is loaded at the address that is named, its lowest one.
struct boot_image_name {
    std::string file;
    std::optional<std::uint64_t> address;
};
/// \throws boot_image_error when the file name is missing or the address is invalid
boot_image_name parse_boot_image(std::string_view text);

/// Splits a list at commas.
std::vector<std::string> split_boot_images(std::string_view list);

/// An image: bytes and their load address.
struct boot_image {
    std::string file;
    std::uint64_t address = 0;
    std::shared_ptr<const initial_content> content;  ///< null: no bytes
    bool movable = true;  ///< false: a program that is linked for this address

    std::uint64_t size() const { return content ? content->size() : 0; }
    std::uint64_t end() const { return address + size(); }
};

/// The memory into which images may be loaded.
struct boot_ram {
    std::uint64_t base = 0, size = 0;
};

/// Reads the images of a list, in order. A file that did not change is read once in this process.
/// \throws boot_image_error for a file that cannot be read, is empty or too long, an image outside
/// of the RAM, and images that overlap
std::vector<boot_image> read_boot_images(std::string_view list, const boot_ram& ram);

}  // namespace trn
