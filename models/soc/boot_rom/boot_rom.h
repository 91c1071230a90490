// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "platform/framework/tlm/memory.h"

namespace trn {

/// Read-only memory with an image from a file, at which the management processor starts.
class boot_rom : public memory {
public:
    struct config {
        std::uint64_t size = 32 << 10;  ///< bytes
        std::string image =
            "bootrom.bin";  ///< a path, or a file of the firmware folder; "" is empty
        sc_core::sc_time access_latency{20, sc_core::SC_NS};
    };

    /// Throws std::runtime_error when the image cannot be read or does not fit.
    boot_rom(sc_core::sc_module_name name, const config& cfg);
};

}  // namespace trn
