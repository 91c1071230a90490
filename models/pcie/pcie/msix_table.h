// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace trn::pcie {

/// MSI-X vectors of a function (PCIe 6.1.4): the table that software programs, and the pending
/// bits. The function calls raise(); the message is sent immediately, or when the vector is
/// unmasked.
class msix_table {
public:
    /// Offset of the PBA in the table's BAR.
    static constexpr std::uint64_t pending_offset = 0x1000;
    /// Bytes: a page for the table, a page for the PBA.
    static constexpr std::uint64_t bar_size = 0x2000;
    static constexpr unsigned max_vectors = 256;  ///< entries of the table's page

    /// Sends a memory write of `data` to `address`. Returns false when the function may not write
    /// now (bus master off); the vector then stays pending until deliver_pending().
    using message = std::function<bool(std::uint64_t address, std::uint32_t data)>;

    msix_table(unsigned vectors, message send);

    /// Accesses of software to the BAR with table and PBA. The PBA ignores writes; other offsets
    /// read zero.
    void read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
    void write(std::uint64_t offset, std::span<const std::uint8_t> bytes);

    /// Sets the enable and function mask bits of the capability. Nothing is pending while MSI-X is
    /// disabled.
    void control(bool enabled, bool function_mask);
    /// Raises `vector`. Does nothing while MSI-X is disabled. Returns false for a vector that does
    /// not exist.
    bool raise(unsigned vector);
    /// Sends pending vectors that are no longer masked.
    void deliver_pending();
    void reset();

    unsigned vectors() const { return static_cast<unsigned>(entries_.size()); }

private:
    struct entry {
        std::uint32_t address_low = 0, address_high = 0, data = 0, control = 1;
        bool pending = false;
    };
    static_assert(max_vectors * 16 == pending_offset);

    std::uint8_t byte(std::uint64_t offset) const;
    void deliver(entry& vector);

    std::vector<entry> entries_;
    message send_;
    bool enabled_ = false, function_mask_ = false;
};

}  // namespace trn::pcie
