// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/config_space.h"

#include <linux/pci_regs.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace trn::pcie {

std::uint16_t config_space::add_capability(std::uint8_t id, std::uint16_t length) {
    const std::uint32_t offset = next_capability_;
    assert(offset + length <= 0x100);
    define<std::uint8_t>(capability_link_, static_cast<std::uint8_t>(offset));
    define<std::uint8_t>(offset + PCI_CAP_LIST_ID, id);
    define<std::uint8_t>(offset + PCI_CAP_LIST_NEXT, 0);
    capability_link_ = offset + PCI_CAP_LIST_NEXT;
    next_capability_ = (offset + length + 3u) & ~3u;  // capabilities are dword aligned (7.5.3)
    return static_cast<std::uint16_t>(offset);
}

std::uint16_t config_space::add_extended_capability(std::uint16_t id, std::uint8_t version,
                                                    std::uint16_t length) {
    const std::uint32_t offset = next_extended_;
    assert(offset + length <= size);
    if (extended_link_ != 0) {
        define<std::uint32_t>(extended_link_, get<std::uint32_t>(extended_link_) | offset << 20);
    }
    define<std::uint32_t>(offset, id | static_cast<std::uint32_t>(version) << 16);
    extended_link_ = offset;
    next_extended_ = (offset + length + 3u) & ~3u;
    return static_cast<std::uint16_t>(offset);
}

void config_space::on_write(std::uint32_t offset, std::uint32_t length, hook called) {
    hooks_.push_back({offset, length, std::move(called)});
}

void config_space::read(std::uint32_t offset, std::span<std::uint8_t> bytes) const {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::size_t position = offset + i;
        bytes[i] = position < size ? value_[position] : 0;
    }
}

void config_space::write(std::uint32_t offset, std::span<const std::uint8_t> bytes) {
    if (offset >= size) return;
    const auto count = std::min<std::size_t>(bytes.size(), size - offset);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t position = offset + i;
        const auto kept = static_cast<std::uint8_t>(value_[position] & ~writable_[position]);
        const auto written =
            static_cast<std::uint8_t>(bytes[i] & writable_[position] & ~clear_[position]);
        const auto remaining =
            static_cast<std::uint8_t>(value_[position] & clear_[position] & ~bytes[i]);
        value_[position] = static_cast<std::uint8_t>(kept | written | remaining);
    }
    for (const write_hook& hook : hooks_) {
        if (hook.offset < offset + count && offset < hook.offset + hook.length) hook.called();
    }
}

void config_space::reset(reset_kind kind) {
    const auto before = value_;
    value_ = reset_;
    for (const auto& [offset, bits, strongest] : kept_) {
        if (kind == reset_kind::conventional && strongest != kind) continue;
        value_[offset] =
            static_cast<std::uint8_t>((value_[offset] & ~bits) | (before[offset] & bits));
    }
}

}  // namespace trn::pcie
