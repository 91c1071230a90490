// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "platform/framework/tlm/backing_store.h"

namespace trn {

/// The RAM of one server for programs in the platform's own process: bytes at the addresses by
/// which the functions of that server reach them, and who uses which. Reserved, not backed, until
/// touched; a fork() copies it.
class server_memory {
public:
    static constexpr std::uint64_t page = 4096;
    static constexpr std::uint64_t base = std::uint64_t{4} << 30;  ///< bus address of byte 0

    explicit server_memory(std::uint64_t size) : bytes_(size) {}

    std::uint64_t size() const { return bytes_.size(); }
    std::uint8_t* data() const { return bytes_.data(); }
    /// Whole zeroed pages: the offset of the first, or nothing when there is no room. The first
    /// hole that fits, else memory never used: the same calls get the same addresses every time.
    std::optional<std::uint64_t> allocate(std::uint64_t size);
    /// `size` as it was asked for. What was never given away is ignored.
    void free(std::uint64_t offset, std::uint64_t size);

private:
    static std::uint64_t whole_pages(std::uint64_t size) { return (size + page - 1) / page * page; }

    backing_store bytes_;
    std::map<std::uint64_t, std::uint64_t> holes_;  // offset -> size, bytes, freed and not in use
    std::uint64_t top_ = 0;                         // nothing above was ever given away
};

}  // namespace trn
