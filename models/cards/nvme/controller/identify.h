// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace trn::nvme {

constexpr std::uint32_t the_namespace = 1;  ///< number of the only namespace
constexpr unsigned max_transfer_shift = 5;  ///< log2 of the pages per command
constexpr std::uint32_t max_transfer = 4096u << max_transfer_shift;
constexpr unsigned max_event_requests = 4;
constexpr unsigned max_abort_commands = 4;
constexpr std::size_t max_error_entries = 64;  ///< entries of the error log
constexpr std::string_view firmware_revision = "1.0";

/// Writes a little-endian number at a byte offset of an identify structure or log.
template <class T>
void put(std::vector<std::uint8_t>& page, std::size_t offset, T value) {
    std::memcpy(&page[offset], &value, sizeof value);
}

/// Writes text padded with spaces.
void put_text(std::vector<std::uint8_t>& page, std::size_t offset, std::size_t length,
              std::string_view text);

/// The structures that IDENTIFY returns (NVM Express 5.15.2), 4096 bytes each.
struct identity {
    std::uint16_t vendor = 0, subsystem_vendor = 0;
    std::string model;
    std::uint64_t serial = 0;
    std::uint64_t blocks = 0;
    std::uint32_t block_bytes = 512;
    bool has_write_cache = false;

    std::vector<std::uint8_t> controller_page() const;
    std::vector<std::uint8_t> namespace_page(std::uint64_t used_blocks) const;
    std::vector<std::uint8_t> active_namespaces(std::uint32_t after) const;
    std::vector<std::uint8_t> descriptors() const;

private:
    std::uint64_t extended_id() const;
};

}  // namespace trn::nvme
