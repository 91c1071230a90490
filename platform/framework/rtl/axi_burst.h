// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace trn::rtl {

/// A burst of AXI4 (IHI 0022H, A3.4.1).
struct axi_burst {
    enum class kind : std::uint8_t { fixed, incrementing, wrapping, reserved };

    std::uint64_t address = 0;
    unsigned id = 0;
    unsigned beats = 1;
    unsigned beat_bytes = 1;  ///< at most the bus's
    kind type = kind::incrementing;

    /// Address of the first byte that a beat transfers.
    std::uint64_t address_of(unsigned beat) const;
    /// Number of bytes that it transfers: less in an unaligned first beat.
    unsigned bytes_of(unsigned beat) const;
    /// Lowest address of the burst.
    std::uint64_t first() const;
    /// Number of bytes of all beats; of a fixed burst, those of one beat times the beats.
    unsigned bytes() const;
    /// Position of a beat's first byte among these.
    unsigned offset_of(unsigned beat) const;
    /// Why the standard does not allow it; "" if it does.
    std::string mistake(unsigned bus_bytes) const;
};

inline constexpr std::uint64_t axi_page = 4096;  ///< that a burst does not leave (A3.4.1)
/// Responses (A3.4.4).
inline constexpr std::uint64_t axi_okay = 0, axi_target_error = 2, axi_decode_error = 3;

}  // namespace trn::rtl
