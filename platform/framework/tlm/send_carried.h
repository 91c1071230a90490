// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>

#include "platform/framework/tlm/plug.h"

namespace trn {

/// Sends a payload that has nothing but the extension `carrier`, whose content the receiver takes.
/// `delay`: from now until it arrives at the partner of `from`. Returns the partner's response.
template <class Carrier>
tlm::tlm_response_status send_carried(plug& from, Carrier carrier,
                                      sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    tlm::tlm_generic_payload payload;
    payload.set_extension(&carrier);
    from.send(payload, delay);
    payload.clear_extension(&carrier);
    return payload.get_response_status();
}

}  // namespace trn
