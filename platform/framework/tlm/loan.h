// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tlm>

namespace trn {

/// Extension of a read whose initiator can use the bytes in place. Plain memory whose bytes are
/// together sets `bytes` instead of copying them to the data pointer; other targets ignore it. The
/// pointer is valid until the target invalidates the initiator's direct pointers.
struct loan : tlm::tlm_extension<loan> {
    const std::uint8_t* bytes = nullptr;

    tlm::tlm_extension_base* clone() const override { return new loan(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const loan&>(other);
    }
};

}  // namespace trn
