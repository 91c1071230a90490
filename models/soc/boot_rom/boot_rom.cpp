// SPDX-License-Identifier: Apache-2.0
#include "models/soc/boot_rom/boot_rom.h"

#include "platform/framework/loader/firmware_file.h"

namespace trn {

boot_rom::boot_rom(sc_core::sc_module_name name, const config& cfg)
    : memory(name, {.size = cfg.size, .access_latency = cfg.access_latency, .read_only = true}) {
    if (!cfg.image.empty()) load(0, read_firmware(cfg.image, cfg.size));
}

}  // namespace trn
