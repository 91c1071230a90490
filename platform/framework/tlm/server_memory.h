// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "platform/framework/tlm/backing_store.h"

namespace trn {

/// The RAM of one server for programs in the platform's own process, at the bus addresses of the
/// server's functions, with its allocations. Reserved, not backed, until touched; a fork() copies
/// it.
class server_memory {
public:
    static constexpr std::uint64_t page = 4096;
    static constexpr std::uint64_t base = std::uint64_t{4} << 30;  ///< bus address of byte 0

    explicit server_memory(std::uint64_t size) : bytes_(size) {}

    std::uint64_t size() const { return bytes_.size(); }
    std::uint8_t* data() const { return bytes_.data(); }
    /// Allocates whole zeroed pages; returns the offset of the first, or nothing when memory is
    /// full. Takes the first hole that fits, else unused memory, so equal calls get equal
    /// addresses.
    std::optional<std::uint64_t> allocate(std::uint64_t size);
    /// `size` as requested. Memory that was not allocated is ignored.
    void free(std::uint64_t offset, std::uint64_t size);

private:
    static std::uint64_t whole_pages(std::uint64_t size) { return (size + page - 1) / page * page; }

    backing_store bytes_;
    std::map<std::uint64_t, std::uint64_t> holes_;  // offset -> size, bytes, freed and not in use
    std::uint64_t top_ = 0;                         // nothing above was ever allocated
};

}  // namespace trn
