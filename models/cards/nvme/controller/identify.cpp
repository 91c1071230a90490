// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/controller/identify.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace trn::nvme {

namespace {

constexpr std::size_t page_bytes = 4096;

}  // namespace

void put_text(std::vector<std::uint8_t>& page, std::size_t offset, std::size_t length,
              std::string_view text) {
    const auto count = std::min(length, text.size());
    std::memset(&page[offset], ' ', length);
    std::memcpy(&page[offset], text.data(), count);
}

/// EUI-64 of the namespace; the vendor's part is invented.
std::uint64_t identity::extended_id() const {
    return std::uint64_t{0x0cd0'1d00} << 32 ^ serial;
}

std::vector<std::uint8_t> identity::controller_page() const {
    std::vector<std::uint8_t> page(page_bytes);
    put(page, 0, vendor);
    put(page, 2, subsystem_vendor);
    put_text(page, 4, 20, fmt::format("AWS{:016X}", serial));
    put_text(page, 24, 40, model);
    put_text(page, 64, 8, firmware_revision);
    page[77] = max_transfer_shift;                   // MDTS
    put<std::uint32_t>(page, 80, 0x0001'0400);       // VER
    page[111] = 1;                                   // CNTRLTYPE: I/O controller
    page[258] = max_abort_commands - 1;              // ACL
    page[259] = max_event_requests - 1;              // AERL
    page[260] = 0x03;                                // FRMW: one slot, read only
    page[261] = 1 << 2;                              // LPA: offsets and long lengths of logs
    page[262] = max_error_entries - 1;               // ELPE
    put<std::uint16_t>(page, 266, 353);              // WCTEMP, kelvin
    put<std::uint16_t>(page, 268, 358);              // CCTEMP
    page[512] = 0x66;                                // SQES
    page[513] = 0x44;                                // CQES
    put<std::uint32_t>(page, 516, 1);                // NN
    put<std::uint16_t>(page, 520, 1 << 2 | 1 << 3);  // ONCS: dataset management, write zeroes
    page[525] =
        static_cast<std::uint8_t>(has_write_cache | 3 << 1);  // VWC; flush takes all namespaces
    const std::string name = fmt::format("nqn.2014-08.org.nvmexpress:{:04x}{:04x}{:016x}", vendor,
                                         subsystem_vendor, serial);
    std::memcpy(&page[768], name.data(), name.size());  // SUBNQN
    put<std::uint16_t>(page, 2048, 2500);               // PSD0: maximum power, in 10 mW; invented
    return page;
}

std::vector<std::uint8_t> identity::namespace_page(std::uint64_t used_blocks) const {
    std::vector<std::uint8_t> page(page_bytes);
    put(page, 0, blocks);                          // NSZE
    put(page, 8, blocks);                          // NCAP
    put(page, 16, std::min(used_blocks, blocks));  // NUSE
    page[33] = 1 | 1 << 3;  // DLFEAT: deallocated blocks read zero; write zeroes deallocates
    for (unsigned i = 0; i < 8; ++i)  // EUI64, big endian
        page[120 + i] = static_cast<std::uint8_t>(extended_id() >> (56 - 8 * i));
    page[130] = static_cast<std::uint8_t>(std::countr_zero(block_bytes));  // LBAF0: LBADS
    return page;
}

std::vector<std::uint8_t> identity::active_namespaces(std::uint32_t after) const {
    std::vector<std::uint8_t> page(page_bytes);
    if (after < the_namespace) put(page, 0, the_namespace);
    return page;
}

std::vector<std::uint8_t> identity::descriptors() const {
    constexpr std::uint8_t of_eui64 = 1, length = 8;
    std::vector<std::uint8_t> page(page_bytes);
    page[0] = of_eui64;
    page[1] = length;
    for (unsigned i = 0; i < length; ++i)
        page[4 + i] = static_cast<std::uint8_t>(extended_id() >> (56 - 8 * i));
    return page;
}

}  // namespace trn::nvme
