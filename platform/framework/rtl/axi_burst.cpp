// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/axi_burst.h"

#include <fmt/format.h>

#include <bit>

namespace trn::rtl {

std::uint64_t axi_burst::address_of(unsigned beat) const {
    if (beat == 0 || type == kind::fixed) return address;
    const std::uint64_t aligned = address - address % beat_bytes;
    const std::uint64_t next = aligned + std::uint64_t{beat} * beat_bytes;
    if (type != kind::wrapping) return next;
    const std::uint64_t length = std::uint64_t{beats} * beat_bytes;
    const std::uint64_t base = address - address % length;
    return base + (next - base) % length;
}

unsigned axi_burst::bytes_of(unsigned beat) const {
    return beat_bytes - static_cast<unsigned>(address_of(beat) % beat_bytes);
}

std::uint64_t axi_burst::first() const {
    return type == kind::wrapping ? address - address % (std::uint64_t{beats} * beat_bytes)
                                  : address;
}

unsigned axi_burst::bytes() const {
    if (type == kind::fixed) return beats * bytes_of(0);
    return beats * beat_bytes - static_cast<unsigned>(first() % beat_bytes);
}

unsigned axi_burst::offset_of(unsigned beat) const {
    if (type == kind::fixed) return beat * bytes_of(0);
    return static_cast<unsigned>(address_of(beat) - first());
}

std::string axi_burst::mistake(unsigned bus_bytes) const {
    constexpr unsigned longest_other = 16;
    if (beat_bytes > bus_bytes)
        return fmt::format("beats of {} bytes on a bus of {}", beat_bytes, bus_bytes);
    switch (type) {
    case kind::fixed:
        if (beats > longest_other) return fmt::format("a FIXED burst of {} beats", beats);
        return {};
    case kind::wrapping:
        if (beats < 2 || beats > longest_other || !std::has_single_bit(beats))
            return fmt::format("a WRAP burst of {} beats", beats);
        if (address % beat_bytes != 0) return fmt::format("an unaligned WRAP burst");
        return {};
    case kind::incrementing:
        if (address / axi_page != (address + bytes() - 1) / axi_page)
            return fmt::format("a burst of {} bytes that crosses a boundary of 4 KiB", bytes());
        return {};
    case kind::reserved:
        break;
    }
    return "a burst of a reserved type";
}

}  // namespace trn::rtl
