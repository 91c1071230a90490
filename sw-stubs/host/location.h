// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sw-stubs/host/device.h"

namespace trn {

/// A place that a person names: "host", "host@7", "hbm2@16 MiB", "sbuf3@0x1000", "axi@0x800000".
/// The offset is a size with its unit or a plain number of bytes.
struct location {
    enum class kind { host, hbm, sbuf, axi };

    kind what = kind::host;
    std::uint32_t number = 0;  ///< of the stack or the core
    std::uint64_t offset = 0;  ///< bytes; for axi: the address

    std::string text() const;
    /// Without the offset: "hbm2".
    std::string name() const;

    /// The place so many bytes further on. \throws device_error with TRN_INVALID_ARGUMENT past the
    /// end of the address space.
    location plus(std::uint64_t bytes) const;
    /// The AXI address of a place inside the chip. \throws device_error with
    /// TRN_INVALID_ARGUMENT when the chip has no such memory or `size` bytes do not fit.
    std::uint64_t address(const device& on, std::uint64_t size) const;
    /// The core whose host-transfer queue a copy to or from here uses by default: the first
    /// core of the stack, the core itself, 0.
    std::uint32_t core(const device& on) const;

private:
    [[noreturn]] void refuse_range(std::uint64_t bytes) const;
};

}  // namespace trn
