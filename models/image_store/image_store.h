// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/image_store/boot_images.h"
#include "platform/framework/tlm/memory.h"

namespace trn {

/// Read-only storage with the images that the loader (firmware/stock) copies into RAM at each boot:
/// a table in the layout of firmware/lib/image_store.h, then the images.
class image_store : public memory {
public:
    struct config {
        std::uint64_t size = std::uint64_t{512} << 20;  ///< bytes
        std::string images;       ///< FILE@ADDRESS,... : the first one is started
        std::string initrd;       ///< FILE@ADDRESS: one more, named in the device tree
        std::string device_tree;  ///< a file, in place of the tree made from the board
        std::string bootargs;     ///< of the kernel
        std::uint64_t ram_base = 0x8000'0000;
        std::uint64_t ram_size = std::uint64_t{2} << 30;
    };
    static constexpr std::uint64_t max_tree = 64 << 10;  ///< bytes, at the end of the RAM

    /// \throws boot_image_error
    image_store(sc_core::sc_module_name name, const config& cfg);

    /// Where the loader puts the tree.
    static std::uint64_t tree_address(const config& cfg) {
        return cfg.ram_base + cfg.ram_size - (std::uint64_t{2} << 20);
    }
    /// All images of a store, the initrd and the place of the device tree last.
    /// \throws boot_image_error
    static std::vector<boot_image> read_images(const config& cfg);

    /// Replaces the device tree, unless the configuration names a file.
    void set_device_tree(std::span<const std::uint8_t> tree);
    const config& choices() const { return choices_; }

private:
    void write_table();

    const config choices_;
    std::vector<boot_image> images_;
};

}  // namespace trn
