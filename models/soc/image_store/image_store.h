// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/soc/image_store/boot_images.h"
#include "platform/framework/tlm/memory.h"

namespace trn {

/// Read-only storage of the images that the loader (firmware/stock) copies to RAM at each boot: a
/// table with the layout of firmware/lib/image_store.h, then the images.
class image_store : public memory {
public:
    struct config {
        std::uint64_t size = std::uint64_t{512} << 20;  ///< bytes
        std::string images;       ///< FILE@ADDRESS,... ; the first one is started
        std::string initrd;       ///< FILE@ADDRESS; an additional image, named in the device tree
        std::string device_tree;  ///< a file that replaces the generated device tree
        std::string bootargs;     ///< command line of the kernel
        std::uint64_t ram_base = 0x8000'0000;
        std::uint64_t ram_size = std::uint64_t{2} << 30;
    };
    /// Limit in bytes; reserved at the end of the RAM.
    static constexpr std::uint64_t max_tree = 64 << 10;
    /// RAM behind the device tree for tables of a server's boot firmware, in bytes.
    static constexpr std::uint64_t max_tables = 64 << 10;
    /// Limit of the kernel's command line in bytes; the tree has room for it.
    static constexpr std::size_t max_bootargs = 4096;

    /// \throws boot_image_error
    image_store(sc_core::sc_module_name name, const config& cfg);

    /// The address to which the loader copies the device tree.
    static std::uint64_t tree_address(const config& cfg) {
        return cfg.ram_base + cfg.ram_size - (std::uint64_t{2} << 20);
    }
    /// Reads all images: those of the list, the initrd, then the place of the device tree. \throws
    /// boot_image_error
    static std::vector<boot_image> read_images(const config& cfg);

    /// Sets the generated device tree; ignored if the configuration names a file. \throws
    /// boot_image_error when it is too long
    void set_device_tree(std::span<const std::uint8_t> tree);
    /// A server, as its SMBIOS tables name it; texts are cut after 63 bytes.
    struct machine {
        std::string product, instance_id;  ///< "": none
    };
    /// Stores the server's names for its boot firmware (firmware/host), which writes the tables.
    void set_machine(const machine& identity);
    const config& choices() const { return choices_; }

private:
    /// An image in the store.
    struct entry {
        std::uint64_t address, length, offset;  // bytes
    };

    void store_images();
    void write_table();

    const config choices_;
    std::vector<entry> images_;  // the device tree is the last one
    std::uint32_t machine_ = 0;  // offset in the store; 0: none
};

}  // namespace trn
