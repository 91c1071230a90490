// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/dma/udma/descriptors/descriptor.h"
#include "models/dma/udma/dma_descriptor_regs.h"

namespace trn {

inline dma_descriptor make_descriptor(std::uint64_t control, std::uint64_t meta,
                                      std::uint64_t address) {
    return {{static_cast<std::uint32_t>(control), static_cast<std::uint32_t>(meta),
             static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32)}};
}

/// Word 1 of an m2s descriptor.
inline std::uint64_t m2s_meta_of(unsigned operation_type) {
    namespace words = dma_descriptor_regs;
    const std::uint64_t copy = words::rows[static_cast<unsigned>(words::reg::m2s_meta)].reset;
    return words::m2s_meta::op_type.set(copy, operation_type);
}

}  // namespace trn
