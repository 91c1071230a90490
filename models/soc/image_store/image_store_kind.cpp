// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/soc/image_store/image_store.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind image_store_kind() {
    using c = image_store::config;
    return kind_of<image_store>(
        "image_store", "Storage with the images of stock firmware, which a loader copies into RAM.",
        {{"size", &c::size, unit::bytes, within(4 * KiB, 64 * GiB),
          "capacity; costs host memory when used"},
         {"images", &c::images, "FILE@ADDRESS,...: the first is started"},
         {"initrd", &c::initrd, "FILE@ADDRESS: one more, named in the device tree"},
         {"device_tree", &c::device_tree, "a file, in place of the tree made from the board"},
         {"bootargs", &c::bootargs, "of the kernel, in the device tree"},
         {"ram_base", &c::ram_base, unit::address, any_number, "of the processor's RAM"},
         {"ram_size", &c::ram_size, unit::bytes, within(4 * MiB, TiB), "of the processor's RAM"}},
        {port::target("in", "the table and the images").of_size(&c::size)},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.ram_base + (cfg.ram_size - 1) < cfg.ram_base)
                return "the RAM (ram_base, ram_size) reaches past 64 address bits";
            try {
                image_store::read_images(cfg);
                return std::nullopt;
            } catch (const boot_image_error& why) {
                return why.suggestion().empty()
                           ? std::string(why.what())
                           : std::string(why.what()) + "; try " + why.suggestion();
            }
        });
}

}  // namespace trn::kind_tables
