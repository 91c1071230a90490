// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/msix_table.h"

#include <linux/pci_regs.h>

#include <cassert>
#include <utility>

namespace trn::pcie {

msix_table::msix_table(unsigned vectors, message send) : entries_(vectors), send_(std::move(send)) {
    assert(vectors <= max_vectors);
}

std::uint8_t msix_table::byte(std::uint64_t offset) const {
    const std::uint64_t index = offset / PCI_MSIX_ENTRY_SIZE;
    if (index < entries_.size()) {
        const entry& vector = entries_[index];
        const std::uint32_t words[] = {vector.address_low, vector.address_high, vector.data,
                                       vector.control};
        return static_cast<std::uint8_t>(words[offset / 4 % 4] >> (8 * (offset % 4)));
    }
    std::uint8_t pending = 0;
    if (offset >= pending_offset) {
        const std::uint64_t first = (offset - pending_offset) * 8;
        for (unsigned bit = 0; bit < 8 && first + bit < entries_.size(); ++bit) {
            if (entries_[first + bit].pending) pending |= static_cast<std::uint8_t>(1u << bit);
        }
    }
    return pending;
}

void msix_table::read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
    for (std::uint8_t& value : bytes) value = byte(offset++);
}

void msix_table::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t value : bytes) {
        const std::uint64_t index = offset / PCI_MSIX_ENTRY_SIZE;
        if (index < entries_.size()) {
            entry& vector = entries_[index];
            std::uint32_t* words[] = {&vector.address_low, &vector.address_high, &vector.data,
                                      &vector.control};
            std::uint32_t& word = *words[offset / 4 % 4];
            const auto shift = static_cast<unsigned>(8 * (offset % 4));
            word = (word & ~(0xffu << shift)) | static_cast<std::uint32_t>(value) << shift;
            vector.address_low &= ~3u;
            vector.control &= PCI_MSIX_ENTRY_CTRL_MASKBIT;
        }
        ++offset;
    }
    deliver_pending();
}

void msix_table::control(bool enabled, bool function_mask) {
    enabled_ = enabled;
    function_mask_ = function_mask;
    if (!enabled)
        for (entry& vector : entries_) vector.pending = false;
    deliver_pending();
}

bool msix_table::raise(unsigned vector) {
    if (vector >= entries_.size()) return false;
    if (!enabled_) return true;
    entries_[vector].pending = true;
    deliver(entries_[vector]);
    return true;
}

void msix_table::deliver(entry& vector) {
    const bool masked = function_mask_ || (vector.control & PCI_MSIX_ENTRY_CTRL_MASKBIT) != 0;
    if (!enabled_ || masked || !vector.pending) return;
    const auto address = static_cast<std::uint64_t>(vector.address_high) << 32 | vector.address_low;
    vector.pending = false;  // the message may write to this table
    if (!send_(address, vector.data)) vector.pending = true;
}

void msix_table::deliver_pending() {
    for (entry& vector : entries_) deliver(vector);
}

void msix_table::reset() {
    enabled_ = function_mask_ = false;
    entries_.assign(entries_.size(), entry{});
}

}  // namespace trn::pcie
