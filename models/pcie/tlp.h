// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tlm>

namespace trn::pcie {

/// Bus, device and function packed as in a TLP header (2.2.4.2): bus << 8 | device << 3 | function.
using function_id = std::uint16_t;

/// What a generic payload lacks to be a TLP. Read or write, address, length and data are the
/// payload's own; a configuration request's address is the register offset in the target function.
/// Completion status: TLM_OK = successful, TLM_ADDRESS_ERROR = unsupported request,
/// TLM_GENERIC_ERROR = completer abort. Whoever sends clears the extension before the payload goes.
struct tlp : tlm::tlm_extension<tlp> {
    enum class space : std::uint8_t { memory, config };

    space to = space::memory;
    function_id requester = 0;
    function_id target = 0;  ///< configuration requests only: whom they are for
    bool relaxed_ordering = false;
    bool no_snoop = false;

    tlm::tlm_extension_base* clone() const override { return new tlp(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const tlp&>(other);
    }
};

}  // namespace trn::pcie
