// SPDX-License-Identifier: Apache-2.0
#include "models/soc/image_store/image_store.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "platform/framework/loader/device_tree_blob.h"
#include "platform/framework/loader/firmware_file.h"

namespace trn {

namespace {

// The same structures as in firmware/lib/image_store.h.
struct table_header {
    std::uint32_t magic, format, count, machine;
    std::uint64_t entry, next, tree;
};
struct table_entry {
    std::uint64_t address, length, offset;
};
struct table_machine {
    std::uint64_t ram_base, ram_size, tables, tables_size;
    std::array<char, 64> product, instance_id;
};
constexpr std::uint32_t table_magic = 0x534e5254, table_format = 1;  // "TRNS"
constexpr std::uint64_t table_size = 4096, alignment = 4096;
constexpr std::size_t max_images = (table_size - sizeof(table_header)) / sizeof(table_entry);

constexpr std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

template <typename T>
std::span<const std::uint8_t> bytes_of(const T& value) {
    return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

}  // namespace

image_store::image_store(sc_core::sc_module_name name, const config& cfg)
    : memory(name, {.size = cfg.size, .read_only = true}), choices_(cfg) {
    store_images();
    write_table();
}

void image_store::store_images() {
    std::uint64_t offset = table_size;
    for (const auto& image : read_images(choices_)) {
        images_.push_back({image.address, image.size(), offset});
        if (image.content) bytes().show(offset, image.content);
        offset += aligned(image.size());
    }
}

std::vector<boot_image> image_store::read_images(const config& cfg) {
    std::vector<boot_image> images;
    if (cfg.bootargs.size() > max_bootargs)
        throw boot_image_error(
            fmt::format("bootargs of {} bytes, at most {}", cfg.bootargs.size(), max_bootargs));
    const auto started = split_boot_images(cfg.images), more = split_boot_images(cfg.initrd);
    if (!cfg.initrd.empty() && more.size() != 1)
        throw boot_image_error(
            fmt::format("initrd '{}' is {} files, not one", cfg.initrd, more.size()));
    if (started.empty() && !more.empty())
        throw boot_image_error(
            fmt::format("initrd '{}' without an image to start (images)", cfg.initrd));
    if (started.empty()) return images;
    // The device tree is the last image; its place is reserved for it.
    const std::uint64_t tree = tree_address(cfg);
    const auto list = more.empty() ? cfg.images : cfg.images + "," + cfg.initrd;
    images = read_boot_images(list, {cfg.ram_base, tree - cfg.ram_base});
    images.push_back({"device tree", tree, {}});
    if (!cfg.device_tree.empty()) try {
            const auto bytes = read_firmware(cfg.device_tree, max_tree);
            if (!is_device_tree(bytes))
                throw boot_image_error(
                    fmt::format("{}: not a flattened device tree (make one: dtc "
                                "-O dtb -o FILE SOURCE)",
                                cfg.device_tree));
            images.back().content = std::make_shared<const initial_content>(bytes);
        } catch (const boot_image_error&) {
            throw;
        } catch (const std::runtime_error& why) {
            throw boot_image_error(why.what());
        }
    if (images.size() > max_images)
        throw boot_image_error(fmt::format("{} images, at most {}", images.size(), max_images));
    // A generated tree and the machine are stored later.
    std::uint64_t used = table_size + max_tree + alignment;
    for (const auto& image : std::span(images).first(images.size() - 1))
        used += aligned(image.size());
    if (used > cfg.size)
        throw boot_image_error(
            fmt::format("the images need {} bytes of a store of {}", used, cfg.size));
    return images;
}

void image_store::set_device_tree(std::span<const std::uint8_t> tree) {
    if (images_.empty() || !choices_.device_tree.empty()) return;
    if (tree.size() > max_tree)
        throw boot_image_error(
            fmt::format("the device tree of the board has {} bytes, at most {}; name a file with "
                        "'device_tree'",
                        tree.size(), max_tree));
    images_.back().length = tree.size();
    const bool fits = load(images_.back().offset, tree);
    sc_assert(fits);
    write_table();
}

void image_store::set_machine(const machine& identity) {
    if (images_.empty()) return;
    table_machine words{choices_.ram_base,
                        choices_.ram_size,
                        tree_address(choices_) + max_tree,
                        max_tables,
                        {},
                        {}};
    for (const auto& [text, field] : {std::pair{&identity.product, &words.product},
                                      std::pair{&identity.instance_id, &words.instance_id}})
        text->copy(field->data(), field->size() - 1);
    machine_ = static_cast<std::uint32_t>(images_.back().offset + max_tree);
    const bool fits = load(machine_, bytes_of(words));
    sc_assert(fits);
    write_table();
}

/// A store without images is empty, which the loader reports.
void image_store::write_table() {
    if (images_.empty()) return;
    const bool has_next = images_.size() > 2 + (choices_.initrd.empty() ? 0u : 1u);
    const table_header header{table_magic,
                              table_format,
                              static_cast<std::uint32_t>(images_.size()),
                              machine_,
                              images_.front().address,
                              has_next ? images_[1].address : 0,
                              images_.back().address};
    load(0, bytes_of(header));
    for (std::size_t i = 0; i < images_.size(); ++i) {
        const table_entry entry{images_[i].address, images_[i].length, images_[i].offset};
        load(sizeof header + i * sizeof entry, bytes_of(entry));
    }
}

}  // namespace trn
