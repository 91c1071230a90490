// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/config_space.h"

#include <linux/pci_regs.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace trn::pcie {

std::uint16_t config_space::add_capability(std::uint8_t id, std::uint16_t length) {
    const std::uint32_t at = next_capability_;
    assert(at + length <= 0x100);
    define<std::uint8_t>(capability_link_, static_cast<std::uint8_t>(at));
    define<std::uint8_t>(at + PCI_CAP_LIST_ID, id);
    define<std::uint8_t>(at + PCI_CAP_LIST_NEXT, 0);
    capability_link_ = at + PCI_CAP_LIST_NEXT;
    next_capability_ = (at + length + 3u) & ~3u;  // capabilities are dword aligned (7.5.3)
    return static_cast<std::uint16_t>(at);
}

std::uint16_t config_space::add_extended_capability(std::uint16_t id, std::uint8_t version,
                                                    std::uint16_t length) {
    const std::uint32_t at = next_extended_;
    assert(at + length <= size);
    if (extended_link_ != 0) {
        define<std::uint32_t>(extended_link_, get<std::uint32_t>(extended_link_) | at << 20);
    }
    define<std::uint32_t>(at, id | static_cast<std::uint32_t>(version) << 16);
    extended_link_ = at;
    next_extended_ = (at + length + 3u) & ~3u;
    return static_cast<std::uint16_t>(at);
}

void config_space::on_write(std::uint32_t offset, std::uint32_t length, hook called) {
    hooks_.push_back({offset, length, std::move(called)});
}

void config_space::read(std::uint32_t offset, std::span<std::uint8_t> bytes) const {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::size_t at = offset + i;
        bytes[i] = at < size ? value_[at] : 0;
    }
}

void config_space::write(std::uint32_t offset, std::span<const std::uint8_t> bytes) {
    if (offset >= size) return;
    const auto count = std::min<std::size_t>(bytes.size(), size - offset);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = offset + i;
        const auto kept = static_cast<std::uint8_t>(value_[at] & ~writable_[at]);
        const auto written = static_cast<std::uint8_t>(bytes[i] & writable_[at] & ~clear_[at]);
        const auto remaining = static_cast<std::uint8_t>(value_[at] & clear_[at] & ~bytes[i]);
        value_[at] = static_cast<std::uint8_t>(kept | written | remaining);
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
