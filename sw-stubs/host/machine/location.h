// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sw-stubs/host/machine/device.h"

namespace trn {

/// A memory location in user input: "host", "host@7", "hbm2@16 MiB", "sbuf3@0x1000",
/// "axi@0x800000". The offset is a size with its unit or a plain number of bytes.
struct location {
    enum class kind { host, hbm, sbuf, axi };

    kind space = kind::host;
    std::uint32_t number = 0;  ///< of the stack or the core
    std::uint64_t offset = 0;  ///< bytes; for axi: the address

    std::string text() const;
    /// Without the offset: "hbm2".
    std::string name() const;

    /// The location `bytes` after this one. \throws device_error with TRN_INVALID_ARGUMENT beyond
    /// the address space.
    location plus(std::uint64_t bytes) const;
    /// The AXI address of a location inside the chip. \throws device_error with
    /// TRN_INVALID_ARGUMENT for an unknown memory, or if `size` bytes do not fit.
    std::uint64_t address(const device& chip, std::uint64_t size) const;
    /// Default core for the host-transfer queue of a copy: the stack's first core, the core itself,
    /// or 0.
    std::uint32_t core(const device& chip) const;

private:
    [[noreturn]] void refuse_range(std::uint64_t bytes) const;
};

/// Access HBM through its BAR window, other memory of the chip by a core's copy queue, because MMIO
/// accesses to SBUF are one register wide. \throws device_error
std::vector<std::uint8_t> read_memory(device& chip, const location& place, std::uint64_t size);
void write_memory(device& chip, const location& place, std::span<const std::uint8_t> bytes);

}  // namespace trn
