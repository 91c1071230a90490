// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm>

namespace trn {

/// Refuses a DMI request only for its address: the initiator may request another address. Returns
/// false, as the result for get_direct_mem_ptr(). The access of a refusal is the refused one, for
/// all targets both kinds (IEEE 1666, 11.2.5).
inline bool refuse_pointer(const tlm::tlm_generic_payload& request, tlm::tlm_dmi& dmi) {
    dmi.allow_read_write();
    dmi.set_start_address(request.get_address());
    dmi.set_end_address(request.get_address());
    return false;
}

/// Grants a pointer for reads only: refuses a request for writes, for all of the range. Returns
/// whether it is granted.
inline bool grant_reads(const tlm::tlm_generic_payload& request, tlm::tlm_dmi& dmi) {
    if (!request.is_write()) {
        dmi.allow_read();
        return true;
    }
    dmi.allow_write();
    dmi.set_dmi_ptr(nullptr);
    return false;
}

}  // namespace trn
