// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm>

namespace trn {

/// Answers a DMI request with no, for the address that was asked for and nothing else: the asker
/// may try again elsewhere. Returns false, as get_direct_mem_ptr() does then.
inline bool refuse_pointer(const tlm::tlm_generic_payload& request, tlm::tlm_dmi& dmi) {
    dmi.allow_none();
    dmi.set_start_address(request.get_address());
    dmi.set_end_address(request.get_address());
    return false;
}

}  // namespace trn
