// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/machine/location.h"

#include <fmt/format.h>

#include "sw-stubs/host/text/size_text.h"

namespace trn {

std::string location::name() const {
    switch (space) {
    case kind::host:
        return "host";
    case kind::hbm:
        return fmt::format("hbm{}", number);
    case kind::sbuf:
        return fmt::format("sbuf{}", number);
    case kind::axi:
        return "axi";
    }
    return "";
}

std::string location::text() const {
    return space == kind::host && offset == 0 ? name() : fmt::format("{}@{:#x}", name(), offset);
}

location location::plus(std::uint64_t bytes) const {
    location moved = *this;
    moved.offset += bytes;
    if (moved.offset < offset) refuse_range(bytes);
    return moved;
}

/// \throws device_error
void location::refuse_range(std::uint64_t bytes) const {
    refuse_argument("{:#x} bytes at {} pass the end of the address space", bytes, text());
}

std::uint64_t location::address(const device& chip, std::uint64_t size) const {
    const auto info = chip.info();
    const auto inside = [&](std::uint64_t memory, std::uint32_t count, std::string_view name) {
        if (number >= count)
            refuse_argument("there is no {}{}: {} has {}0 to {}{}", name, number, info.name, name,
                            name, count - 1);
        if (offset > memory || size > memory - offset)
            refuse_argument("{:#x} bytes at {} do not fit: it has {}", size, text(),
                            size_text(memory));
    };
    switch (space) {
    case kind::host:
        refuse_argument("host memory has no fixed address");
    case kind::hbm:
        inside(info.stack_size, info.stacks, "hbm");
        break;
    case kind::sbuf:
        inside(info.state_buffer_size, info.cores, "sbuf");
        break;
    case kind::axi:
        if (trn_range_wraps(offset, size)) refuse_range(size);
        return offset;
    }
    return space == kind::hbm ? trn_hbm_address(chip, number, offset)
                              : trn_sbuf_address(chip, number, offset);
}

std::uint32_t location::core(const device& chip) const {
    switch (space) {
    case kind::hbm: {
        const auto info = chip.info();
        return number * info.cores / info.stacks;
    }
    case kind::sbuf:
        return number;
    default:
        return 0;
    }
}

std::vector<std::uint8_t> read_memory(device& chip, const location& place, std::uint64_t size) {
    const auto address = place.address(chip, size);  // checks the range before the allocation
    std::vector<std::uint8_t> bytes(size);
    chip.check(place.space == location::kind::hbm
                   ? trn_window_read(chip, place.number, place.offset, bytes.data(), size)
                   : trn_read(chip, place.core(chip), bytes.data(), address, size));
    return bytes;
}

void write_memory(device& chip, const location& place, std::span<const std::uint8_t> bytes) {
    const auto address = place.address(chip, bytes.size());
    chip.check(place.space == location::kind::hbm
                   ? trn_window_write(chip, place.number, place.offset, bytes.data(), bytes.size())
                   : trn_write(chip, place.core(chip), address, bytes.data(), bytes.size()));
}

}  // namespace trn
