// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "platform/framework/tlm/backing_store.h"

namespace trn {

/// The RAM of one server for programs in the platform's process, at the bus addresses of the
/// server's functions, with its allocator. Host memory is used only for touched pages; fork()
/// copies it.
class server_memory {
public:
    static constexpr std::uint64_t page = 4096;
    static constexpr std::uint64_t base = std::uint64_t{4} << 30;  ///< bus address of byte 0

    explicit server_memory(std::uint64_t size) : bytes_(size) {}

    std::uint64_t size() const { return bytes_.size(); }
    std::uint8_t* data() const { return bytes_.data(); }
    /// Allocates zeroed whole pages; returns the offset of the first, or nullopt if memory is full.
    /// Takes the first hole that fits, else unused memory, so that addresses are reproducible.
    std::optional<std::uint64_t> allocate(std::uint64_t size);
    /// Frees what allocate(size) has returned; ignores anything else.
    void free(std::uint64_t offset, std::uint64_t size);

private:
    static std::uint64_t whole_pages(std::uint64_t size) { return (size + page - 1) / page * page; }

    backing_store bytes_;
    std::map<std::uint64_t, std::uint64_t> allocated_;  // offset -> size in bytes
    std::map<std::uint64_t, std::uint64_t> holes_;      // the same, of free ranges below top_
    std::uint64_t top_ = 0;                             // end of the allocated memory
    std::uint64_t used_ = 0;                            // its highest value: above, all is zero
};

}  // namespace trn
