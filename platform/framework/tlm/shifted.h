// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tlm>

namespace trn {

/// Subtracts `offset` from a payload's address during its lifetime, for a part of a block that
/// begins at `offset`.
class shifted {
public:
    shifted(tlm::tlm_generic_payload& payload, std::uint64_t offset)
        : payload_(payload), address_(payload.get_address()) {
        payload.set_address(address_ - offset);
    }
    ~shifted() { payload_.set_address(address_); }
    shifted(const shifted&) = delete;
    shifted& operator=(const shifted&) = delete;

private:
    tlm::tlm_generic_payload& payload_;
    const std::uint64_t address_;
};

}  // namespace trn
